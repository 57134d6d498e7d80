package operations

import (
	"math/rand"
	"strings"
	"testing"
)

// TestConstantsOfAnyDialect: which database a statement is for is not known here. What is a constant for one of them stays in the
// program, also where another sees a name.
func TestConstantsOfAnyDialect(t *testing.T) {
	for text, want := range map[string]string{
		// Backslashes, as in standard SQL and as in MySQL.
		`SELECT a FROM t WHERE path = 'C:\' AND token = 'secret'`: `SELECT a FROM t WHERE path = ?...`,
		`SELECT a FROM t WHERE b = 'it\'s secret' AND c = 1`:      `SELECT a FROM t WHERE b = ?...`,
		`SELECT a FROM t WHERE b = "a\" secret"`:                  `SELECT a FROM t WHERE b = ?...`,
		`SELECT a FROM t WHERE b = 'C:\\' AND c = 'secret'`:       `SELECT a FROM t WHERE b = ? AND c = ?`,
		`SELECT a FROM t WHERE b = 'C:\d\\\n' AND c = 'secret'`:   `SELECT a FROM t WHERE b = ? AND c = ?`,
		`INSERT INTO t VALUES ('a', 'b\'secret', 1)`:              `INSERT INTO t VALUES (?...`,
		`SELECT a LIKE b ESCAPE '\''secret'`:                      `SELECT a LIKE b ESCAPE ?...`,
		`SELECT a LIKE b ESCAPE '\', c FROM t WHERE d = 'secret'`: `SELECT a LIKE b ESCAPE ?, c FROM t WHERE d = ?`,
		// Parameters after a doubt do not show whose the statement is.
		`SELECT a FROM t WHERE b = "secret's" AND c = 'd\' OR e = $1`: `SELECT a FROM t WHERE b = ? AND c = ?...`,
		// Prefixes.
		`SELECT N'secret', X'5ec7e7', b'1', U&'secret', _utf8'secret'`:    `SELECT ?, U&?, _utf8?`,
		`SELECT a FROM t WHERE b = q'[it's secret]' AND c = 'd'`:          `SELECT a FROM t WHERE b = q?...`,
		`SELECT a FROM t WHERE b = '''it's secret''' AND c = 'd'`:         `SELECT a FROM t WHERE b = ?...`,
		`SELECT a FROM t WHERE b = '''secret''' AND c = ''''`:             `SELECT a FROM t WHERE b = ? AND c = ?`,
		`SELECT $$secret$$, $a$ ' $a$, b`:                                 `SELECT ?...`,
		`SELECT 'a' 'secret' "secret b"`:                                  `SELECT ? ? ?`,
		`SELECT 1e-5, .5E+3, 0xDEADBEEF, 1_000, x'5ec7e7' FROM t LIMIT 5`: `SELECT ?-?+? FROM t LIMIT ?`,
		// Comments.
		"SELECT a /* 'b */ , 'secret' FROM t":             `SELECT a , ? FROM t`,
		"SELECT a /* b /* c */ 'd */ , secret' FROM t":    `SELECT a ...`,
		"SELECT a /* b /* c */ 'd', e FROM t":             `SELECT a ?, e FROM t`,
		"SELECT a /*! , 'b */ secret' */ FROM t":          `SELECT a ...`,
		"SELECT /*! SQL_NO_CACHE */ a FROM t":             `SELECT a FROM t`,
		"/*! SELECT 5 */ --\"a\nsecret\"":                 `...`,
		"SELECT a -- it's\nFROM t WHERE b = 'secret'":     `SELECT a FROM t WHERE b = ?`,
		"SELECT a -- it's\r\nFROM t WHERE b = 'secret'":   `SELECT a FROM t WHERE b = ?`,
		"SELECT a -- b\rFROM t WHERE c = 'd\nsecret'":     `SELECT a ...`,
		"SELECT 5--\"a\nsecret\"":                         `SELECT ? ...`,
		"--name: a\nSELECT b -- it's":                     `SELECT b`,
		"# it's\nSELECT 'secret'":                         `SELECT ?`,
		"--it's\nSELECT 'secret'":                         `SELECT ?`,
		"SELECT 5 # it's\n, 'secret'":                     `SELECT ? ...`,
		"SELECT a #it's\nFROM t WHERE b = 'secret'":       `SELECT a #it?...`,
		"SELECT a #>> '{b,c}'\nFROM t WHERE d = 'secret'": `SELECT a #>> ? FROM t WHERE d = ?`,
		"SELECT 5 # length('a\nsecret')":                  `SELECT ? ...`,
		"SELECT `it's` FROM t WHERE a = 'secret'":         "SELECT `it?...",
		"SELECT `a``b`, `c-d` FROM t WHERE a = 'secret'":  "SELECT `a``b`, `c-d` FROM t WHERE a = ?",
		"SELECT [it's] FROM t WHERE a = 'secret'":         `SELECT [it?...`,
		"SELECT ARRAY['secret', 'b'], c[1], [d e] FROM t": `SELECT ARRAY[?], c[?], [d e] FROM t`,
		"SELECT ARRAY['a]', b] FROM t WHERE c = 'secret'": `SELECT ARRAY[?...`,
	} {
		if got := withoutConstants(text); got != want {
			t.Errorf("%s\n is %s\nnot %s", text, got, want)
		}
	}
	// Wherever a long statement is cut.
	for fill := longText - 40; fill < longText; fill++ {
		text := "SELECT a FROM t WHERE b = 'x" + strings.Repeat("y", fill-27) + "''secret\\\\' AND c = E'secret' AND d = $s$secret$s$"
		if got := withoutConstants(text); strings.Contains(got, "secret") || !strings.HasSuffix(got, "...") {
			t.Errorf("cut after %d bytes of a constant: %s", fill, got)
		}
	}
}

// dialect reads SQL as one database does.
type dialect struct {
	name         string
	escapes      bool   // a backslash escapes in quotes
	prefixed     bool   // it does after the prefix E alone
	doubleNames  bool   // double quotes enclose names
	names        string // other quotes of names
	hash, dashes bool   // # begins a comment, and -- without a blank after it
	returns      bool   // a comment ends at a carriage return, too
	nests        bool   // comments do
	executes     bool   // what is in /*! */
	dollars      bool   // $tag$ quotes
}

var dialects = []dialect{
	{name: "PostgreSQL", prefixed: true, doubleNames: true, dashes: true, returns: true, nests: true, dollars: true},
	{name: "MySQL", escapes: true, names: "`", hash: true, executes: true},
	{name: "MySQL without escapes", names: "`", hash: true, executes: true},
	{name: "SQLite", names: "`[", dashes: true},
}

// constants calls f with what stands in each constant in quotes.
func (d *dialect) constants(text string, f func(inner string)) {
	escape, prefix, executed := false, false, false // what was right before, and whether /*! was
	begun := false                                  // before, # and -- begin a comment: nobody's statement begins with them
	for i, n := 0, 0; i < len(text); i += n {
		rest, escaping, prefixed := text[i:], escape, prefix
		prefix = false
		if n = d.blank(rest, begun); n > 0 {
			executed = executed || d.executes && strings.HasPrefix(rest, "/*!")
			begun = begun || executed
			continue
		}
		escape, begun = false, true
		switch c := rest[0]; {
		case escaping && strings.HasPrefix(rest, `'\'`) && !strings.HasPrefix(rest, `'\''`):
			n = 3
		case c == '\'' || c == '"':
			n = d.quoted(rest, d.escapes || prefixed && c == '\'')
			// A single word in double quotes may be a name.
			if c == '\'' || !d.doubleNames && 1+span(rest[1:n], func(c byte) bool { return letter(c) || digit(c) }) < n-1 {
				f(rest[1:n])
			}
		case strings.IndexByte(d.names, c) >= 0:
			n = 1
			if end := strings.IndexByte(rest[1:], map[byte]byte{'`': '`', '[': ']'}[c]); end >= 0 {
				n = end + 2
			}
		case c == '*' && executed && strings.HasPrefix(rest, "*/"):
			n, executed = 2, false
		case c == '$' && len(rest) > 1 && digit(rest[1]):
			n = 1 + span(rest[1:], digit)
		case c == '$' && d.dollars:
			n = 1 + span(rest[1:], func(c byte) bool { return letter(c) || digit(c) })
			if n < len(rest) && rest[n] == '$' {
				n++
				whole := n + afterOr(rest[n:], rest[:n])
				f(rest[n:whole])
				n = whole
			}
		case letter(c):
			n = span(rest, func(c byte) bool { return letter(c) || digit(c) || c == '$' })
			escape, prefix = strings.EqualFold(rest[:n], "escape"), d.prefixed && strings.EqualFold(rest[:n], "e")
		case digit(c):
			n = span(rest, func(c byte) bool { return letter(c) || digit(c) })
		default:
			n = 1
		}
	}
}

// blank returns the length of the blank or comment that a text begins with.
func (d *dialect) blank(text string, begun bool) int {
	switch {
	case blank(text[0]):
		return 1
	case strings.HasPrefix(text, "--") && (d.dashes || len(text) == 2 || blank(text[2]) || !begun), text[0] == '#' && (d.hash || !begun):
		n := indexOr(text, "\n")
		if d.returns && text[0] == '-' {
			n = indexOr(text[:n], "\r")
		}
		return n
	case d.executes && strings.HasPrefix(text, "/*!"):
		return 3
	case strings.HasPrefix(text, "/*") && !d.nests:
		return 2 + afterOr(text[2:], "*/")
	case strings.HasPrefix(text, "/*") && nested(text) == 0:
		return len(text)
	case strings.HasPrefix(text, "/*"):
		return nested(text)
	}
	return 0
}

// quoted returns the length of what is in quotes, all of a text without an end.
func (d *dialect) quoted(text string, escapes bool) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && escapes, text[i] == text[0] && i+1 < len(text) && text[i+1] == text[0]:
			i++
		case text[i] == text[0]:
			return i + 1
		}
	}
	return len(text)
}

// secret is what the tests look for.
const secret = "hunter2"

// kept reports the shape of a statement if it holds what stands in constants only, as some database reads the statement.
func kept(t *testing.T, text string) {
	t.Helper()
	shape := withoutConstants(text)
	if !strings.Contains(shape, secret) {
		return
	}
	numbered, _ := quoting(text)
	for _, d := range dialects {
		if !d.doubleNames && numbered { // with a parameter $1, all that is in double quotes are names
			continue
		}
		in := 0
		d.constants(text, func(inner string) { in += strings.Count(inner, secret) })
		if in > 0 && in == strings.Count(text, secret) {
			t.Errorf("%q became %q: %s has constants there", text, shape, d.name)
		}
	}
}

// TestStatementsOfPieces puts together whatever begins, ends or escapes something.
func TestStatementsOfPieces(t *testing.T) {
	pieces := strings.Split(`'|'|'|"|"|\|''|/*|/*!|*/|--|-- |`+"\n|\r|`|"+
		`#|# |[|]|$a$|$|$1 |hunter2| hunter2 |'hunter2|hunter2'|"x hunter2 |SELECT |ESCAPE | E|q|é|a |1|1.5e-3|, |(|)|.|:|@`, "|")
	random := rand.New(rand.NewSource(1))
	for i := 0; i < 200000; i++ {
		text := ""
		for n := 2 + random.Intn(12); n > 0; n-- {
			text += pieces[random.Intn(len(pieces))]
		}
		kept(t, text)
	}
}

// FuzzDialects is the same with any text.
func FuzzDialects(f *testing.F) {
	for _, text := range []string{
		`SELECT a FROM t WHERE path = 'C:\' AND token = 'hunter2'`, `SELECT a FROM t WHERE b = "a\" hunter2"`,
		`SELECT a FROM t WHERE b = 'it\'s hunter2' AND c = E'd\'hunter2' AND "e f" = $1`,
		"SELECT a /* b /* c */ 'd */ , 'hunter2' */ FROM `it's`", "SELECT /*! 'a */ hunter2' */ FROM [it's] WHERE b = 'hunter2'",
		"SELECT 5--\"a\nhunter2\"", "SELECT a -- b\rFROM t WHERE c = 'd\nhunter2'", "SELECT a #> 'b\nhunter2', # it's\n 'hunter2'",
		"SELECT $$hunter2$$, $a$ ' $a$, 'hunter2'", `SELECT "a"."b", " hunter2 " FROM t WHERE b LIKE c ESCAPE '\' AND d = 'hunter2'`,
		`SELECT N'hunter2', U&'\0061' 'hunter2' UESCAPE '!'`, `INSERT INTO t ("a", "b") VALUES ("'hunter2", '''hunter2''')`,
	} {
		f.Add(text)
	}
	f.Fuzz(kept)
}
