package render

import "github.com/redline-go/redline/verify"

// Basis says what a verdict rests on, as Text does below its table: pairs, looks, the designed
// error rate, and how side a differs from itself.
func Basis(r verify.Result) []string { return footing(r) }

// Effect writes a metric's relative change with its interval, as Text does; "not known" if it was not
// measured.
func Effect(m verify.MetricResult) string { return change(m) }
