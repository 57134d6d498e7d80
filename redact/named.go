package redact

import (
	"regexp"
	"strings"
)

// placeholderForm is a value that stands for another one and reveals nothing: a template's
// placeholder, a parameter of SQL, a variable.
var placeholderForm = regexp.MustCompile(`^["']?(?:[A-Za-z]+ )?(?:\{\{[^{}]*\}\}|\$\d+|\?|\$\{?[A-Z_][A-Z0-9_]*\}?|` +
	`%[a-z]|\[redacted\]|<[a-z_ ]+>)["']?$`)

func placeholder(value string) bool { return placeholderForm.MatchString(value) }

// named hides the values that stand behind names which say secret.
func (r *Redactor) named(text string) string {
	var b strings.Builder
	from := 0 // of text, what is not yet written
	r.each(text, func(p position, begin, end int) {
		b.WriteString(text[from:begin])
		b.WriteString(p.mark(begin > p.at))
		from = end
	})
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// each calls hidden with every value that is to be hidden, in order. What
// follows a sign is examined again unless it is hidden: a value may be a pair
// itself (DSN="password=x").
func (r *Redactor) each(text string, hidden func(p position, begin, end int)) {
	for i, done := 0, 0; i < len(text); i++ {
		var p position
		switch c := text[i]; {
		case c == '=' || c == ':':
			p = pairAt(text, done, i, i+1)
		case c == '%' && (strings.HasPrefix(text[i:], "%3D") || strings.HasPrefix(text[i:], "%3d")):
			p = pairAt(text, done, i, i+3)
		case c == '-' && (i == done || strings.IndexByte(" \t\r\n\"'", text[i-1]) >= 0):
			p = flagAt(text, i)
		}
		if p.name == "" {
			continue
		}
		if begin, end, hide := r.value(p); hide {
			hidden(p, begin, end)
			i, done = end-1, end
		}
	}
}

// longestName bounds how far back a name is looked for.
const longestName = 96

// pairAt is the pair whose sign lies from sign to after: name=, "name": or name :
// with blanks around the sign and quotes, perhaps escaped, around the name. No
// name begins before from.
func pairAt(text string, from, sign, after int) (p position) {
	from = max(from, sign-longestName-8)
	end := sign
	for end > from && end > sign-4 && blank(text[end-1]) {
		end--
	}
	if end > from && (text[end-1] == '"' || text[end-1] == '\'') {
		p.quoted = true
		for end--; end > from && text[end-1] == '\\'; end-- {
		}
	}
	begin := end
	for begin > from && end-begin < longestName && (letter(text[begin-1]) || digit(text[begin-1]) ||
		strings.IndexByte("_.-[]", text[begin-1]) >= 0) {
		begin--
	}
	p.text, p.name, p.by = text, text[begin:end], strings.ToUpper(text[sign:after])
	if begin > 0 {
		p.lead = text[begin-1]
	}
	if p.lead == '%' && len(p.name) > 2 {
		p.name = p.name[2:] // %26token%3D: the two digits are no part of it
	}
	p.lineStart = lineStart(text, begin)
	p.at = after
	for p.at < len(text) && p.at < after+16 && blank(text[p.at]) {
		p.at, p.spaced = p.at+1, true
	}
	return p
}

// flagAt is the flag that begins at a place, with a blank behind it.
func flagAt(text string, at int) (p position) {
	end := at
	for end < len(text) && end-at < longestName && (letter(text[end]) || digit(text[end]) || text[end] == '-' || text[end] == '_') {
		end++
	}
	value := end
	for value < len(text) && blank(text[value]) {
		value++
	}
	if value == end || end-at < 2 {
		return position{}
	}
	return position{text: text, at: value, name: text[at:end], by: " "}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

// position is where a value begins and what is in front of it.
type position struct {
	text      string
	at        int    // of the value
	name      string // that stands before it
	by        string // "=", ":", "%3D", or " " behind a flag
	lead      byte   // in front of the name; 0 for nothing
	quoted    bool   // the name stands in quotes, as in JSON
	lineStart bool   // the name begins its line, but for blanks and a list's dash
	spaced    bool   // a blank stands between sign and value
}

// mark is what stands in a value's place: in quotes where a number or a list
// stood in JSON, so that it stays JSON.
func (p position) mark(quoted bool) string {
	if p.quoted && p.by == ":" && !quoted {
		return `"` + Mark + `"`
	}
	return Mark
}

// value returns where the value lies and whether it is hidden.
func (r *Redactor) value(p position) (begin, end int, hide bool) {
	sure := r.ofName(p.name, p.by)
	if sure == innocent || p.at >= len(p.text) {
		return 0, 0, false
	}
	rest := p.text[p.at:]
	if p.by == ":" && (strings.HasPrefix(rest, "//") || !p.quoted && rest[0] == '{') {
		return 0, 0, false // the scheme of a URL, or a map of YAML, which has names of its own
	}
	quoteLen, length := extent(rest, p)
	begin, end = p.at+quoteLen, p.at+length
	value := p.text[begin:end]
	alone := end == len(p.text) || strings.IndexByte("\r\n", p.text[end]) >= 0
	switch {
	case strings.TrimSpace(value) == "" || placeholder(strings.TrimSpace(value)) || innocentValue(value):
		return 0, 0, false
	case quoteLen == 0 && p.by == ":" && !p.quoted && (sure == certain && p.lineStart || headerLine(p.name)):
		// A line of YAML, or of a header: all of it.
		return p.at, p.at + wholeLine(rest), true
	case p.by == " " && strings.HasPrefix(value, "-"), p.name == "-p" && !loose(value):
		return 0, 0, false
	case sure == certain:
		return begin, end, true
	}
	return begin, end, perhapsHidden(p, value, quoteLen > 0, alone)
}

// perhapsHidden decides on a value behind a name that is also used for other
// things.
func perhapsHidden(p position, value string, quoted, alone bool) bool {
	all := words(p.name)
	isCode := all[len(all)-1] == "code"
	inQuery := p.by == "=" && (p.lead == '?' || p.lead == '&') || p.by == "%3D"
	switch {
	case isCode && !inQuery:
		return !codeOfStatus(value)
	case p.by != ":" || p.quoted || quoted:
		return !(p.by == "=" && p.spaced && operandOfSQL(value, quoted))
	case p.lineStart && alone:
		return true
	}
	// name: value in a sentence, as "invalid token: unexpected end".
	return strings.ContainsAny(value, "0123456789") && len(value) >= 4 || len(value) >= 20
}

// ofName is how surely a name says secret where it stands.
func (r *Redactor) ofName(name, by string) certainty {
	bare := strings.TrimLeft(name, "-")
	if by == " " {
		if name == "-p" {
			return certain
		}
		return ofName(bare)
	}
	if r != nil {
		for _, known := range r.names {
			if strings.EqualFold(known, bare) {
				return certain
			}
		}
	}
	sure := ofName(bare)
	if sure == innocent && by == ":" && headerName(bare) && strings.HasPrefix(strings.ToLower(bare), "x-") {
		return certain
	}
	return sure
}

// codeOfStatus reports whether a code is one that a program answers with: a
// status, an exit code, an SQLSTATE, the name of an error.
func codeOfStatus(value string) bool {
	value = strings.Trim(value, `"'`)
	if len(value) <= 5 {
		for i := 0; i < len(value); i++ {
			if !digit(value[i]) && !('A' <= value[i] && value[i] <= 'Z') && !(i == 0 && value[i] == '-') {
				return !strings.ContainsAny(value, "0123456789")
			}
		}
		return true
	}
	return !strings.ContainsAny(value, "0123456789") && len(value) <= 40
}

// operandOfSQL reports whether what follows "name = " is a name, as in a join.
func operandOfSQL(value string, quoted bool) bool {
	return !quoted && plainName.MatchString(value)
}

var plainName = regexp.MustCompile(`^[a-z_][a-z_0-9]*\.[a-z_][a-z_0-9]*$|^(?:any|all|now|coalesce|lower|upper)\(?$`)

// innocentValue reports whether a value says that there is none.
func innocentValue(value string) bool {
	switch strings.ToLower(strings.Trim(value, `"' `)) {
	case "", "true", "false", "null", "nil", "none", "undefined", "yes", "no", "on", "off", "***", "*****", "xxxxx",
		"{", "[", "|", ">", "|-", ">-", "[redacted", "redacted":
		return true
	}
	return false
}

// loose reports whether what follows -p can be a password: no port, no path.
func loose(value string) bool {
	if len(value) <= 5 && strings.Trim(value, "0123456789") == "" || strings.IndexAny(value, "/.") == 0 {
		return false
	}
	return !strings.Contains(value, ":") || strings.ContainsAny(value, "!@#$%^&*")
}

// headerLine names headers whose whole line is hidden, also within a line.
func headerLine(name string) bool {
	switch strings.ToLower(name) {
	case "authorization", "proxy-authorization", "cookie", "set-cookie", "authentication", "x-amz-security-token":
		return true
	}
	return false
}

// lineStart reports whether only blanks and a list's dash stand before a place
// in its line.
func lineStart(text string, at int) bool {
	const widest = 200
	from := max(strings.LastIndexByte(text[max(0, at-widest):at], '\n')+1+max(0, at-widest), 0)
	return strings.Trim(text[from:at], " \t-{\r>|") == "" && at-from < widest
}

func wholeLine(text string) int {
	if end := strings.IndexAny(text, "\r\n"); end >= 0 {
		return end
	}
	return len(text)
}
