package scalar

import (
	"errors"
	"reflect"
	"testing"

	"github.com/redline-go/redline/scenario/mistake"
)

func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{"2000/s": 2000, "300/m": 5, "2000": 2000, "7200/hour": 2, "1.5 / s": 1.5, "1e3": 1000} {
		if got, err := ParseRate(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "2000/ms", "x", "NaN", "inf", "1e400", "1/s/s", "20000000"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestShareAboveAll: what is a percentage already is not to be one more.
func TestShareAboveAll(t *testing.T) {
	for text, hint := range map[string]string{"150%": "", "1.5": `did you mean "1.5%"?`} {
		_, err := ParseShare(text)
		var wrong *mistake.Mistake
		if !errors.As(err, &wrong) || wrong.Hint != hint {
			t.Errorf("%s: %+v", text, err)
		}
	}
}

func TestSplitCommand(t *testing.T) {
	for text, want := range map[string][]string{
		`a b  c`: {"a", "b", "c"}, `a 'b c' "d 'e'" f\ g`: {"a", "b c", "d 'e'", "f g"}, `a ""`: {"a", ""},
		`sh -c 'x | y'`:       {"sh", "-c", "x | y"},
		`grep "\d+\.go" '\n'`: {"grep", `\d+\.go`, `\n`}, `a "\$X \"b\" \\ \` + "`" + `"`: {"a", "$X \"b\" \\ `"}, `a '$X'`: {"a", "$X"},
		"a \\\n b \"c\\\nd\"": {"a", "b", "cd"}, "a\x00b": {"a\x00b"}, `"a|b;(c)"`: {"a|b;(c)"},
	} {
		if got, err := SplitCommand(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "  ", "a | b", "a 'b", `a \`, "a > b", "$X", `""`, `a "$X"`, "a \"`b`\""} {
		if got, err := SplitCommand(text); err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}
