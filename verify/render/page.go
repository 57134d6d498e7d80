package render

import "github.com/redline-go/redline/verify"

// Basis says what a verdict rests on, as Text does below its table: pairs, looks, the designed
// error rate, and how side a differs from itself.
func Basis(r verify.Result) []string { return footing(r) }

// Detectable writes the smallest change in the first deciding metric that sessions like this one find; "-"
// if unknown.
func Detectable(r verify.Result) string {
	for _, m := range r.Metrics {
		if !m.Advisory {
			m.MDE = r.AA.MDE
			return seen(m)
		}
	}
	return seen(verify.MetricResult{MDE: r.AA.MDE})
}

// Seen writes the smallest change in a metric that would have been detected, as Text does; "-" if unknown.
func Seen(m verify.MetricResult) string { return seen(m) }

// Effect writes a metric's relative change with its interval, as Text does; "not known" if it was not
// measured.
func Effect(m verify.MetricResult) string { return change(m) }
