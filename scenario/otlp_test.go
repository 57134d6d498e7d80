package scenario

import (
	"reflect"
	"testing"
)

func TestOTLP(t *testing.T) {
	for text, want := range map[string][]string{
		"on": {"127.0.0.1:4317", "127.0.0.1:4318"}, "127.0.0.1:0": {"127.0.0.1:0"}, "[::1]:4318": {"[::1]:4318"}, ":4318": {":4318"},
	} {
		if got, err := ParseOTLP(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "off", "4318", "h:x", "h:70000", "http://127.0.0.1:4318", "a b:1"} {
		if got, err := ParseOTLP(text); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}
