package inert

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// hostile does something in a terminal, in a log, or in a page.
const hostile = "a\x1b]0;owned\x07\x1b[2J\r\n::error::owned\n##vso[task.complete]\u009b31m\u202e\u2028\xff\x7f"

func written(t *testing.T, terminal bool, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, terminal)
	for _, p := range parts {
		if n, err := w.Write([]byte(p)); n != len(p) || err != nil {
			t.Fatalf("%d of %d bytes, %v", n, len(p), err)
		}
	}
	return b.String()
}

func TestWriterLetsNothingActThrough(t *testing.T) {
	out := written(t, false, hostile)
	if strings.ContainsAny(out, "\x1b\x07\r\x7f\u009b\u202e\u2028") || strings.Contains(out, "::error") || strings.Contains(out, "##vso") {
		t.Errorf("passed on: %q", out)
	}
	for in, want := range map[string]string{
		"::1 is up\n\tand http://[::1]:80": "::1 is up\n\tand http://[::1]:80",
		"### redline: pass\n## two\n":      "### redline: pass\n## two\n",
		"  ::warning::x\n":                 "  ::?arning::x\n",
		"a\n##[section]x":                  "a\n##?section]x",
		"äöü € 漢字 ¦":                       "äöü € 漢字 ¦",
		"\x1b[31mred\x1b[0m\r":             "?[31mred?[0m?",
	} {
		if got := written(t, false, in); got != want {
			t.Errorf("%q became %q", in, got)
		}
	}
}

// TestWriterKeepsItsOwn: what redline draws on a terminal passes, whole or in parts;
// what it never draws does not.
func TestWriterKeepsItsOwn(t *testing.T) {
	const own = "\r\x1b[2K\x1b[1;31mred\x1b[0m €\n"
	if got := written(t, true, own); got != own {
		t.Errorf("%q", got)
	}
	if got := written(t, true, strings.Split(own, "")...); got != own {
		t.Errorf("in parts: %q", got)
	}
	var bytewise []string
	for i := range len(own) {
		bytewise = append(bytewise, own[i:i+1])
	}
	if got := written(t, true, bytewise...); got != own {
		t.Errorf("by bytes: %q", got)
	}
	if got := written(t, true, "\x1b]52;c;ZXZpbA==\x07\x1b[6n\x1b[2J"); strings.Contains(got, "\x1b") {
		t.Errorf("passed on: %q", got)
	}
}

func TestSprintfMakesNamesOneLine(t *testing.T) {
	type verdict string
	got := Sprintf("%s\t%v %s %d\n%s", hostile, errors.New("x\n::error::y"), verdict("p\nq"), 7, Block("one\n  two\x1b[m\n"))
	if strings.Count(got, "\n") != 3 || strings.Contains(got, "\x1b") || !strings.Contains(got, "p q 7\none\n  two?[m\n") {
		t.Errorf("%q", got)
	}
}

func TestJSONIsTheSameText(t *testing.T) {
	in := map[string]string{"name": strings.ToValidUTF8(hostile, "") + "\U000e0001<&>"}
	var b bytes.Buffer
	if err := JSON(&b, in); err != nil {
		t.Fatal(err)
	}
	if got := written(t, false, b.String()); got != b.String() {
		t.Errorf("the edge changed %q to %q", b.String(), got)
	}
	var out map[string]string
	if err := json.Unmarshal(b.Bytes(), &out); err != nil || out["name"] != in["name"] {
		t.Errorf("%v: %q came back as %q", err, in["name"], out["name"])
	}
}

func FuzzWriter(f *testing.F) {
	f.Add(hostile, 3)
	f.Add("\x1b[31", 2)
	f.Fuzz(func(t *testing.T, text string, at int) {
		at = min(max(at, 0), len(text))
		for _, terminal := range []bool{false, true} {
			whole := written(t, terminal, text)
			if parts := written(t, terminal, text[:at], text[at:]); parts != whole {
				t.Errorf("in parts %q, whole %q", parts, whole)
			}
			for _, line := range strings.Split(whole, "\n") {
				if strings.HasPrefix(strings.TrimLeft(line, " \t"), "::error") {
					t.Errorf("a command: %q", line)
				}
			}
			if !terminal && strings.ContainsAny(whole, "\x1b\r\x07\x7f\u009b") {
				t.Errorf("passed on: %q", whole)
			}
		}
	})
}
