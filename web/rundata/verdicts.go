package rundata

import (
	"cmp"
	"slices"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/report"
	"github.com/redline-go/redline/scenario/criteria"
)

// threshold is a pass/fail expression with how far its figure is from the limit.
type threshold struct {
	Expr  string `json:"expr"`
	OK    bool   `json:"ok"`
	Limit string `json:"limit"` // as figures are written; empty where the expression is not understood
	Value string `json:"value"`
	// Margin is the distance to the limit over the limit, above 0 where it is kept; null where
	// there is none: no data, or a limit of zero.
	Margin *float64 `json:"margin"`
}

// thresholdsOf lists thresholds, those that failed first, then those nearest to their limit.
func thresholdsOf(all []record.ThresholdResult) []threshold {
	out := []threshold{}
	for _, t := range all {
		one := threshold{Expr: notation.Clean(t.Expr), OK: t.OK, Value: report.ThresholdValue(t)}
		if parsed, err := criteria.ParseThreshold(t.Expr); err == nil {
			limit := record.ThresholdResult{Expr: t.Expr, Value: &parsed.Limit}
			one.Limit = report.ThresholdValue(limit)
			if t.Value != nil && parsed.Limit != 0 {
				margin := (parsed.Limit - *t.Value) / parsed.Limit
				if parsed.Op == ">" || parsed.Op == ">=" {
					margin = -margin
				}
				one.Margin = &margin
			}
		}
		out = append(out, one)
	}
	slices.SortStableFunc(out, func(a, b threshold) int {
		return cmp.Or(compareBool(a.OK, b.OK), cmp.Compare(distance(a), distance(b)))
	})
	return out
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// distance puts what has no margin first among its like.
func distance(t threshold) float64 {
	if t.Margin == nil {
		return -1e9
	}
	return *t.Margin
}
