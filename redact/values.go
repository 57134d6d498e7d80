package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const (
	// shortest is the length from which a value is hidden wherever it stands:
	// three letters stand everywhere.
	shortest = 4
	// longest bounds what comparing costs; a longer text is learnt line by line.
	longest = 4096
	// loneUntil is up to what length a value is hidden only as a word of its own.
	loneUntil = 8
	// fewestDigits is how long a value of digits alone must be: figures of a
	// report have fewer.
	fewestDigits = 8
	// mostEncoded is how many values are also looked for encoded; a feeder may
	// have a million.
	mostEncoded = 10_000
)

// values are what was learnt. A million tokens may begin with the same bytes, so
// they are looked up whole, by the lengths that begin so.
type values struct {
	all     map[string]bool
	lengths map[[shortest]byte][]int // by first bytes; longest first
	first   [1 << 16 / 64]uint64     // whether any begins with these two bytes, a bit each
}

// Learn hides a value from now on, wherever it stands, also in base64, base64url,
// hexadecimal, percent-encoding and as JSON text. Values that cannot be distinguished from
// common text are not learnt: shorter than 4 bytes, digits alone under 8, words
// such as "true" or "postgres". Values of up to 8 bytes are hidden as whole words.
//
// It must not be called concurrently with other methods.
func (r *Redactor) Learn(value string) {
	value = strings.TrimSpace(value)
	if strings.Contains(value, "\n") { // it comes back line by line
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); len(line) >= 16 && !strings.HasPrefix(line, "-----") {
				r.Learn(line)
			}
		}
	}
	if !learnable(value) {
		return
	}
	v := &r.values
	if v.all == nil {
		v.all, v.lengths = map[string]bool{}, map[[shortest]byte][]int{}
	}
	encode := len(v.all) < mostEncoded
	v.add(value)
	if encode {
		for _, form := range encodings(value) {
			v.add(form)
		}
	}
}

// LearnNamed learns a value whose name says secret, and what is a secret by form
// in any other: passwords in a DSN, tokens, and what is long and drawn at random.
// It is for variables of the environment and columns of data.
func (r *Redactor) LearnNamed(name, value string) {
	// The shell's working folders (POSIX, Environment Variables): a service built
	// where it lies has its files below them.
	if r.Secret(name) && name != "PWD" && name != "OLDPWD" {
		if ofName(name) == certain || !filePath(value) {
			r.Learn(value)
		}
	}
	r.LearnText(value)
	if tokenLike(value) && len(value) >= 24 && strings.ToLower(value) != value && strings.ToUpper(value) != value && !filePath(value) {
		r.Learn(value)
	}
}

// LearnText learns what the rules by name and form find in a text: a DSN, a
// command, a header, a body.
func (r *Redactor) LearnText(text string) {
	for at := 0; strings.Contains(text[at:], "://"); {
		at += strings.Index(text[at:], "://") + len("://")
		if _, password, end := userinfo(text[at:]); end > 0 && !placeholder(password) {
			r.Learn(password)
			if plain, err := url.PathUnescape(password); err == nil {
				r.Learn(plain)
			}
		}
	}
	for _, found := range r.found(text) {
		r.Learn(found)
	}
	for _, m := range scheme.FindAllStringSubmatch(text, -1) {
		if hideScheme(m[0]) == m[0] {
			continue
		}
		r.Learn(m[3])
		if decoded, err := base64.StdEncoding.DecodeString(m[3]); err == nil && strings.EqualFold(m[1], "basic") {
			_, password, _ := strings.Cut(string(decoded), ":")
			r.Learn(password)
		}
	}
	for _, form := range []*regexp.Regexp{webToken, makers} {
		for _, found := range form.FindAllString(text, -1) {
			r.Learn(found)
		}
	}
}

// found returns the values that named hides.
func (r *Redactor) found(text string) (all []string) {
	r.each(text, func(_ position, begin, end int) {
		value := strings.Trim(text[begin:end], ",;")
		all = append(all, value)
		if plain, err := url.QueryUnescape(value); err == nil && plain != value {
			all = append(all, plain)
		}
	})
	return all
}

func (v *values) add(value string) {
	if len(value) < shortest || v.all[value] {
		return
	}
	v.all[value] = true
	key := [shortest]byte([]byte(value[:shortest]))
	if lengths := v.lengths[key]; !slices.Contains(lengths, len(value)) {
		lengths = append(lengths, len(value))
		slices.SortFunc(lengths, func(a, b int) int { return cmp.Compare(b, a) })
		v.lengths[key] = lengths
	}
	two := int(value[0])<<8 | int(value[1])
	v.first[two/64] |= 1 << (two % 64)
}

// hide replaces the values in a text.
func (v *values) hide(text string) string {
	if len(v.all) == 0 {
		return text
	}
	var b strings.Builder
	from := 0
	for i := 0; i+shortest <= len(text); {
		n := v.at(text, i)
		if n == 0 {
			i++
			continue
		}
		b.WriteString(text[from:i])
		b.WriteString(Mark)
		i += n
		from = i
	}
	if from == 0 {
		return text
	}
	b.WriteString(text[from:])
	return b.String()
}

// Values covers what was learnt with asterisks, so that no length changes; it
// returns how many it met. It is for binary files, whose other bytes must stay.
func (r *Redactor) Values(data []byte) (met int) {
	if r == nil || len(r.values.all) == 0 {
		return 0
	}
	text := string(data)
	for i := 0; i+shortest <= len(text); {
		n := r.values.at(text, i)
		for j := range n {
			data[i+j] = '*'
		}
		if n > 0 {
			met++
		}
		i += max(n, 1)
	}
	return met
}

// at returns the length of the longest value that stands at i, 0 for none.
func (v *values) at(text string, i int) int {
	if two := int(text[i])<<8 | int(text[i+1]); v.first[two/64]&(1<<(two%64)) == 0 {
		return 0
	}
	for _, n := range v.lengths[[shortest]byte([]byte(text[i:i+shortest]))] {
		if n <= len(text)-i && v.all[text[i:i+n]] && (n > loneUntil || alone(text, i, n)) {
			return n
		}
	}
	return 0
}

// alone reports whether what stands at i is a word of its own.
func alone(text string, i, n int) bool {
	return (i == 0 || !inWord(text[i-1])) && (i+n == len(text) || !inWord(text[i+n]))
}

func inWord(c byte) bool { return letter(c) || digit(c) || c == '_' }

// common are values that programs give to variables and people to passwords of
// local databases, and that stand in every second line of a report.
var common = set("true false null none nil yes off on default local localhost test tests testing debug info warn error trace dev develop " +
	"development prod production staging root user users admin guest public private postgres postgresql mysql redis redline password " +
	"passwd secret token service server client main name http https grpc request requests response latency target json text value " +
	"values string bearer basic oauth oauth2 enabled disabled auto none always never required optional file memory database " +
	"gateway order orders redacted get post put patch delete head options gnome unix x11 wayland session auth sha256 hs256 rs256")

func learnable(value string) bool {
	switch {
	case len(value) < shortest, len(value) > longest, common[strings.ToLower(value)], strings.Contains(Mark, value),
		strings.Contains(value, "[redact"):
		return false
	case strings.Trim(value, "0123456789.:-+ ") == "":
		return len(value) >= fewestDigits
	case strings.Trim(value, value[:1]) == "": // "****"
		return false
	}
	return !placeholder(value)
}

// filePath reports whether a value is more likely the path of a file.
func filePath(value string) bool {
	if !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "./") && !strings.HasPrefix(value, "~/") {
		return false
	}
	for part := range strings.SplitSeq(value, "/") {
		if tokenLike(part) || strings.ContainsAny(part, "=+@!$%^&*") {
			return false
		}
	}
	return true
}

// encodings are the forms in which a value comes back.
func encodings(value string) []string {
	all := []string{url.QueryEscape(value), url.PathEscape(value)}
	if quoted, err := json.Marshal(value); err == nil {
		all = append(all, string(quoted[1:len(quoted)-1]))
	}
	if len(value) <= loneUntil {
		return slices.DeleteFunc(all, func(form string) bool { return form == value })
	}
	all = append(all, hex.EncodeToString([]byte(value)), strings.ToUpper(hex.EncodeToString([]byte(value))), sealed(value))
	// In base64 a value has three forms, after how many bytes stand in front of
	// it, less the characters that its neighbours have a part in.
	for before := range 3 {
		padded := make([]byte, before, before+len(value))
		padded = append(padded, value...)
		from := []int{0, 2, 3}[before]
		to := len(padded) / 3 * 4
		for _, coding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if form := coding.EncodeToString(padded)[from:to]; len(form) > loneUntil {
				all = append(all, form)
			}
		}
	}
	whole := base64.RawStdEncoding.EncodeToString([]byte(value))
	all = append(all, whole, base64.RawURLEncoding.EncodeToString([]byte(value)), base64.StdEncoding.EncodeToString([]byte(value)))
	return slices.DeleteFunc(all, func(form string) bool { return form == value })
}

// sealed is a value as labels of series have it, see LabelRune of record/series.
func sealed(value string) string {
	return strings.Map(func(c rune) rune {
		if c == ',' || c == '=' || c < ' ' {
			return '_'
		}
		return c
	}, value)
}
