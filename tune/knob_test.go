package tune

import (
	"strings"
	"testing"
)

func texts(k Knob) string {
	var out []string
	for _, l := range k.Levels {
		out = append(out, l.String())
	}
	return strings.Join(out, " ")
}

func TestParseKnob(t *testing.T) {
	for text, want := range map[string]string{
		"GOGC=50..400":             "log: 50 71 100 140 200 280 400",
		"GOGC=50..200":             "linear: 50 75 100 130 150 180 200",
		"GOMAXPROCS=1..4":          "linear: 1 2 3 4",
		"GOMAXPROCS=1..8":          "log: 1 2 3 4 6 8",
		"env:DB_POOL=2..64":        "log: 2 4 6 11 20 36 64",
		"GOMEMLIMIT=64MiB..1GiB":   "log: 64MiB 105MiB 162MiB 257MiB 410MiB 648MiB 1GiB",
		"env:RATIO=0.5..2.0":       "linear: 0.5 0.75 1 1.3 1.5 1.8 2",
		"flag:-mode=fast,slow":     "list: fast slow",
		"flag:--workers=16,1,4":    "log: 1 4 16",
		"GOGC=off,100,400":         "list: off 100 400",
		"pgo":                      "list: off on",
		"env:BATCH=-4..4":          "linear: -4 -3 -2 -1 0 1 2 3 4",
		"GOMEMLIMIT=off,1GiB,2GiB": "list: off 1GiB 2GiB",
	} {
		k, err := ParseKnob(text)
		if got := k.Scale() + ": " + texts(k); err != nil || got != want {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestParseKnobRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "unknown knob",
		"gogc=50..400":              "hint: GOGC",
		"-workers=1..4":             "hint: flag:-workers",
		"DB_POOL=1..4":              "hint: env:DB_POOL",
		"somaxconn=1..4":            "unknown knob",
		"GOGC":                      "no values",
		"GOGC=":                     "no values",
		"GOGC=100":                  "nothing to choose from",
		"GOGC=400..50":              "is not a range",
		"GOGC=50..50":               "is not a range",
		"GOGC=0..400":               "neither a percentage",
		"GOGC=a..b":                 `"a" is not a number`,
		"GOGC=1,,2":                 "empty value",
		"GOGC=100,100":              "listed twice",
		"env:CACHE=1GiB,1024MiB":    "nothing to choose from",
		"GOMAXPROCS=0,1":            "is not a number from 1 to 1024",
		"GOMAXPROCS=1.5,2":          "is not a number from 1 to 1024",
		"GOMEMLIMIT=64..128":        "neither a size",
		"GOMEMLIMIT=64..1GiB":       "one end",
		"GOMEMLIMIT=64MB..1GB":      "is not a number",
		"env:A B=1,2":               "is not the name of a variable",
		"env:DB_PASSWORD=a,b":       "named like a secret",
		"flag:workers=1,2":          "is not a flag",
		"pgo=maybe":                 "it is tried off and on",
		"env:N=1..1e400":            "is not a number",
		"env:N=1..9999999999999999": "out of range for a setting",
	} {
		if _, err := ParseKnob(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
	}
}

func TestPresentIsAmongTheLevels(t *testing.T) {
	k, err := ParseKnob("GOGC=50..400")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		set  bool
		want string
		at   int
	}{
		{"100", true, "50 71 100 140 200 280 400", 2},
		{"120", true, "50 71 100 120 140 200 280 400", 3},
		{"800", true, "50 71 100 140 200 280 400 800", 7},
		{"20", true, "20 50 71 100 140 200 280 400", 0},
		{"off", true, "50 71 100 140 200 280 400 off", 7},
		{"", false, "50 71 100 140 200 280 400 not set", 7},
	} {
		with, at := k.WithPresent(c.text, c.set)
		if texts(with) != c.want || at != c.at {
			t.Errorf("%q: %s at %d; want %s at %d", c.text, texts(with), at, c.want, c.at)
		}
	}
	if with, at := k.WithPresent("off", true); with.distance(0, at) != unlike || with.distance(0, 1) >= unlike {
		t.Error("off lies on the scale of numbers")
	}
}

func TestNewSpaceRefuses(t *testing.T) {
	knob := func(text string) Knob {
		k, err := ParseKnob(text)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	none := func(Knob) (string, bool) { return "", false }
	if _, err := NewSpace(nil, none); err == nil {
		t.Error("a space without a knob")
	}
	if _, err := NewSpace([]Knob{knob("GOGC=50..400"), knob("GOGC=1,2")}, none); err == nil ||
		!strings.Contains(err.Error(), "twice") {
		t.Errorf("a knob twice: %v", err)
	}
	// GOGC is a variable of the environment as well.
	if _, err := NewSpace([]Knob{knob("GOGC=50..400"), knob("env:GOGC=1,2")}, none); err == nil {
		t.Error("a variable is turned by two knobs")
	}
}

// FuzzParseKnob: whatever is written, a knob that is taken has levels to choose from, ascending.
func FuzzParseKnob(f *testing.F) {
	for _, text := range []string{"GOGC=50..400", "env:A=1,2", "GOMEMLIMIT=64MiB..1GiB", "flag:-x=a,b", "pgo",
		"env:A=-1..0.5", "GOGC=..", "env:A=0..8"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		k, err := ParseKnob(text)
		if err != nil {
			return
		}
		if len(k.Levels) < 2 || len(k.Levels) > mostLevels {
			t.Fatalf("%q has %d levels", text, len(k.Levels))
		}
		for i := range k.Levels[1:] {
			if k.Numeric && !(k.Levels[i].At < k.Levels[i+1].At) {
				t.Fatalf("%q: levels %v do not ascend", text, k.Levels)
			}
		}
	})
}
