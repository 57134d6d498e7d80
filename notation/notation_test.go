package notation

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// forms are the functions of one figure, as testdata/cases.json names them.
var forms = map[string]func(float64) string{
	"span": Span, "size": Size, "rate": Rate, "percent": Percent, "change": Change, "figure": Figure, "short": Short,
	"count": func(v float64) string { return Count(int64(v)) },
}

// TestCases holds Go to the table that report's TestPageWritesTheSameFigures holds the
// page's TypeScript to.
func TestCases(t *testing.T) {
	text, err := os.ReadFile("testdata/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Form, Want string
		Value      *float64 // null is no number
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, c := range cases {
		v := math.NaN()
		if c.Value != nil {
			v = *c.Value
		}
		write, ok := forms[c.Form]
		if !ok {
			t.Fatalf("no form %q", c.Form)
		}
		seen[c.Form] = true
		if got := write(v); got != c.Want {
			t.Errorf("%s(%v) = %q, want %q", c.Form, v, got, c.Want)
		}
	}
	for form := range forms {
		if !seen[form] {
			t.Errorf("no case of %s", form)
		}
	}
}

// TestConfidence: a level that is not certainty never reads as it.
func TestConfidence(t *testing.T) {
	for level, want := range map[float64]string{0.95: "95 %", 0.975: "97.5 %", 0.99: "99 %", 0.9993: "99.93 %", 0.99934: "99.934 %",
		1 - 1e-7: "99.99999 %", 1 - 1e-12: "above 99.999999 %", 1: "100 %"} {
		if got := Confidence(level); got != want {
			t.Errorf("Confidence(%v) = %q, want %q", level, got, want)
		}
	}
}

// edges returns values around where a form changes its unit or its digits, in rising
// order: each power of ten, of 1,024 and of 60 seconds, the halves that round into the next.
func edges() []float64 {
	var up []float64
	for _, base := range []float64{1e-9, 1e-4, 0.001, 0.01, 0.1, 1, 10, 100, 1e3, 1024, 1e4, 1e5, 1e6, 1 << 20, 1e7, 1e8,
		1e9, 1 << 30, 1e10, 6e10, 1e11, 1e12, 1 << 40, 3.6e12, 1e13, 1e15, math.MaxInt64} {
		for _, f := range []float64{0.95, 0.99, 0.9949, 0.995, 0.9951, 0.999, 0.9994, 0.9995, 0.9996, 0.99994, 0.99995,
			0.99996, 1 - 1e-12, 1, 1 + 1e-12, 1.0004, 1.0005, 1.005, 1.01, 1.05, 1.125, 1.5, 2.5, 5} {
			up = append(up, base*f)
		}
	}
	all := []float64{math.MinInt64}
	for i := range up {
		all = append(all, -up[len(up)-1-i])
	}
	return append(append(all, 0), up...)
}

// TestFiguresRise: of two values the larger never reads as the smaller, no figure has an
// exponent, and none claims more digits than the measurement gives.
func TestFiguresRise(t *testing.T) {
	values := edges()
	slices.Sort(values)
	for name, write := range forms {
		last, lastText, lastValue := math.Inf(-1), "", 0.0
		for _, v := range values {
			if name == "count" && math.Abs(v) >= math.MaxInt64 {
				continue
			}
			text := write(v)
			if strings.ContainsAny(text, "eE") {
				t.Errorf("%s(%v) = %q has an exponent", name, v, text)
			}
			if digits(text) > 4 && !whole(text) {
				t.Errorf("%s(%v) = %q has more than 4 digits", name, v, text)
			}
			if got := reading(t, text); got < last {
				t.Errorf("%s(%v) = %q reads as less than %s(%v) = %q", name, v, text, name, lastValue, lastText)
			} else {
				last, lastText, lastValue = got, text, v
			}
		}
	}
}

// digits counts the significant digits of a figure's first number.
func digits(text string) int {
	number, _, _ := strings.Cut(strings.TrimLeft(text, "<>+- "), " ")
	return len(strings.TrimLeft(strings.NewReplacer(".", "", ",", "").Replace(number), "0"))
}

// whole reports whether a figure is a whole number, which is written out.
func whole(text string) bool { return !strings.Contains(text, ".") }

// units of what a reader would take a figure for.
var units = map[string]float64{
	"": 1, "%": 1, "ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "h": 3600e9,
	"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

// reading is what a reader takes a figure for: "< 0.01" is between 0 and that.
func reading(t *testing.T, text string) float64 {
	t.Helper()
	fields := strings.Fields(strings.ReplaceAll(text, ",", ""))
	part := 1.0
	if fields[0] == "<" || fields[0] == ">" {
		part, fields = 0.5, fields[1:]
	}
	sign, sum := 1.0, 0.0
	if strings.HasPrefix(fields[0], "-") {
		sign, fields[0] = -1, fields[0][1:]
	}
	for i := 0; i < len(fields); i += 2 {
		v, err := strconv.ParseFloat(fields[i], 64)
		unit := ""
		if i+1 < len(fields) {
			unit = fields[i+1]
		}
		size, known := units[unit]
		if err != nil || !known {
			t.Fatalf("%q is no figure: %v", text, err)
		}
		sum += v * size
	}
	return sign * part * sum
}

func TestNoNumbers(t *testing.T) {
	for name, write := range forms {
		if name == "count" {
			continue
		}
		for v, want := range map[float64]string{math.Inf(1): "infinite", math.Inf(-1): "-infinite", math.NaN(): Unknown} {
			if got := write(v); got != want {
				t.Errorf("%s(%v) = %q, want %q", name, v, got, want)
			}
		}
	}
	if got := Duration(math.MinInt64); got != "-2,562,047 h 47 min" {
		t.Errorf("the least duration is %q", got)
	}
}

func TestQuantities(t *testing.T) {
	for got, want := range map[string]string{
		Factor(7.69): "7.69x", Factor(212.4): "212x", Tenths(0.0525): "5.3 %", Short(2): "2", Short(1.5): "1.5",
		Short(999.5): "1,000", Short(100): "100",
		Quantity(2.5e6, "ns"): "2.50 ms", Quantity(10, "1"): "10", Quantity(3, "1/s"): "3.00/s", Quantity(1536, "bytes"): "1.50 KiB",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add("plain")
	f.Add("a\x1b[31m\r\n\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		once := Clean(s)
		if twice := Clean(once); twice != once {
			t.Errorf("clean is not stable: %q then %q", once, twice)
		}
		for _, r := range once {
			if r < ' ' || r == 0x7f {
				t.Errorf("control character in %q", once)
			}
		}
	})
}
