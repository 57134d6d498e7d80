package scalar

import (
	"reflect"
	"testing"
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

func TestSplitCommand(t *testing.T) {
	for text, want := range map[string][]string{
		`a b  c`: {"a", "b", "c"}, `a 'b c' "d 'e'" f\ g`: {"a", "b c", "d 'e'", "f g"}, `a ""`: {"a", ""},
		`sh -c 'x | y'`: {"sh", "-c", "x | y"},
	} {
		if got, err := SplitCommand(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "  ", "a | b", "a 'b", `a \`, "a > b", "$X", `""`} {
		if got, err := SplitCommand(text); err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}
