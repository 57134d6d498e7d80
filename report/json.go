package report

import (
	"fmt"
	"io"

	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
)

// JSON writes the summary as indented JSON in the order of its schema, ending
// in a newline. Lists that are empty are written as [], never null, so that a
// consumer can iterate without asking. It fails on a figure that JSON cannot
// hold (NaN, infinity) and on errors of w.
func JSON(w io.Writer, s *record.Summary) error {
	out := *s
	if out.Schema == "" {
		out.Schema = record.SummarySchema
	}
	out.Sources = list(out.Sources)
	out.Anatomy.Median, out.Anatomy.Tail = list(out.Anatomy.Median), list(out.Anatomy.Tail)
	out.Findings = append([]findings.Finding{}, out.Findings...)
	for i := range out.Findings {
		out.Findings[i].Evidence = list(out.Findings[i].Evidence)
		out.Findings[i].Rejected = list(out.Findings[i].Rejected)
	}
	out.NotJudged = list(out.NotJudged)
	out.Thresholds = list(out.Thresholds)
	out.Warnings = list(out.Warnings)
	out.Generator.WhyInvalid = list(out.Generator.WhyInvalid)
	if out.Load.Status == nil {
		out.Load.Status = map[string]int64{}
	}
	if out.Load.ErrorKinds == nil {
		out.Load.ErrorKinds = map[string]int64{}
	}
	return writeJSON(w, &out, "summary")
}

// list returns s, or an empty list when it is nil.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

func writeJSON(w io.Writer, v any, what string) error {
	if err := inert.JSON(w, v); err != nil {
		return fmt.Errorf("write %s as JSON: %w", what, err)
	}
	return nil
}
