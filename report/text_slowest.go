package report

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/redline-go/redline/diagnose/slowest"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
)

// slowestOf narrates the slowest requests of a bundle; none where no trace was taken
// apart.
func slowestOf(rec *record.Record) ([]slowest.Request, error) {
	var a breakdown.Anatomy
	if err := rec.ReadJSON(breakdown.File, &a); err != nil {
		return nil, err
	}
	return slowest.Describe(rec, &a, slowest.Most), nil
}

// slowest prints the slowest requests step by step.
func (t *textWriter) slowest() {
	if !t.o.All || t.o.Record == nil {
		return
	}
	requests, err := slowestOf(t.o.Record)
	if len(requests) == 0 {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.section()
			t.line("%s", t.amber("cannot show the slowest requests: "+notation.Clean(err.Error())))
		}
		return
	}
	t.section()
	t.line("%s", t.bold("The slowest traced requests"))
	for i, one := range requests {
		if i > 0 {
			t.line("")
		}
		t.request(i+1, one)
	}
}

func (t *textWriter) request(rank int, one slowest.Request) {
	const indent = 4
	t.line("%s  %s", t.bold(right(fmt.Sprint(rank), 2)), t.bold(fit(requestTitle(one), t.width-indent)))
	t.paragraph(indent, one.Lead)
	var rows [][]string
	for _, s := range one.Steps {
		rows = append(rows, []string{"+" + notation.Duration(int64(s.At)), notation.Duration(int64(s.Took))})
	}
	for i, times := range table(rows, 0, 1) {
		s := one.Steps[i]
		head := spaces(indent+2) + times + "  "
		for n, l := range wrap(stepText(s), t.width-len([]rune(head)), 3) {
			if n > 0 {
				head = spaces(len([]rune(head)))
			}
			t.line("%s%s", head, l)
		}
	}
	for _, text := range one.Meanwhile {
		t.paragraph(indent, text)
	}
	for _, text := range one.Spans {
		t.paragraph(indent, "span "+text)
	}
}

func (t *textWriter) paragraph(indent int, text string) {
	for _, l := range wrap(notation.Clean(text), t.width-indent, 0) {
		t.line("%s%s", spaces(indent), l)
	}
}

// requestTitle says which request it was.
func requestTitle(one slowest.Request) string {
	title := fmt.Sprintf("%s in the service, from %.3f s", notation.Duration(int64(one.Took)), one.Begin.Seconds())
	if one.Name != "" {
		title += fmt.Sprintf(": request %s (%s), %s for its sender", notation.Clean(one.ID), notation.Clean(one.Name),
			notation.Duration(int64(one.Latency)))
	}
	return title
}

// stepText describes a step, how often it occurred and for whom.
func stepText(s slowest.Step) string {
	text := s.Text
	if s.Times > 1 {
		text += fmt.Sprintf(", %d times", s.Times)
	}
	if s.For != "" {
		text += ": for " + s.For
	}
	return notation.Clean(text)
}
