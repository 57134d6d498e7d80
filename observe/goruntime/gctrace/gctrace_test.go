package gctrace

import (
	"strings"
	"testing"
	"time"
)

// The lines have the form of their Go version's documentation.
func TestParse(t *testing.T) {
	const us, ms = time.Microsecond, time.Millisecond
	plain := Cycle{
		Number: 12, Start: 1234 * ms, Pauses: [2]time.Duration{110 * us, 20 * us}, Mark: 3200 * us,
		Assist: 1500 * us, CPU: 220*us + 1500*us + 2500*us + 100*us + 40*us,
		Peak: 9 << 20, Live: 5 << 20, Goal: 10 << 20, Procs: 2,
	}
	forced := plain
	forced.Forced = true
	for name, test := range map[string]struct {
		line string
		want Cycle
	}{
		"Go 1.16":        {"gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 2 P", plain},
		"Go 1.17 forced": {"gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 2 P (forced)", forced},
		"Go 1.19":        {"gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 0 MB stacks, 1 MB globals, 2 P", plain},
		"Go 1.26 forced": {"gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 0 MB stacks, 1 MB globals, 2 P (forced)", forced},
		"a later field":  {"gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 3 of something, 2 P", plain},
	} {
		got, err := Parse(test.line)
		got.CPU = got.CPU.Round(us) // sums of decimal fractions
		if err != nil || got != test.want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, test.want)
		}
	}
	whole := "gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 2 P"
	for cut := range len(whole) {
		if got, err := Parse(whole[:cut]); err == nil {
			t.Errorf("%q is taken: %+v", whole[:cut], got)
		}
	}
	for _, line := range []string{
		"", "gc", "gc 5 cars", "scvg: 0 MB released", whole + strings.Repeat(", x", 200),
		strings.Replace(whole, "12", "-12", 1), strings.Replace(whole, "1.234", "NaN", 1), strings.Replace(whole, "1.234", "1e300", 1),
		strings.Replace(whole, "8->9", "8->+Inf", 1), strings.Replace(whole, "0.11+", "0.11", 1), strings.Replace(whole, "/", "|", 1),
	} {
		if got, err := Parse(line); err == nil {
			t.Errorf("%q is taken: %+v", line, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("gc 12 @1.234s 3%: 0.11+3.2+0.020 ms clock, 0.22+1.5/2.5/0.1+0.040 ms cpu, 8->9->5 MB, 10 MB goal, 2 P")
	f.Add("gc 1 @0.000s 0%: 0+0+0 ms clock, 0+0/0/0+0 ms cpu, 0->0->0 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 1 P (forced)")
	f.Fuzz(func(t *testing.T, line string) {
		c, err := Parse(line)
		if err != nil {
			return
		}
		for _, d := range []time.Duration{c.Start, c.Pauses[0], c.Pauses[1], c.Mark, c.Assist, c.CPU, c.End()} {
			if d < 0 {
				t.Fatalf("%q: %+v", line, c)
			}
		}
		for _, v := range []float64{c.Peak, c.Live, c.Goal, c.Procs} {
			if !(v >= 0 && v < 1e20) {
				t.Fatalf("%q: %+v", line, c)
			}
		}
	})
}
