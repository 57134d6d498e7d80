package report

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/redline-go/redline/diagnose/tale"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
)

// talesOf narrates the slowest requests of a bundle; none where no trace was taken
// apart.
func talesOf(rec *record.Record) ([]tale.Tale, error) {
	var a record.Anatomy
	if err := rec.ReadJSON(record.AnatomyFile, &a); err != nil {
		return nil, err
	}
	return tale.Tell(rec, &a, tale.Most), nil
}

// tales prints the slowest requests step by step.
func (t *textWriter) tales() {
	if !t.o.All || t.o.Record == nil {
		return
	}
	tales, err := talesOf(t.o.Record)
	if len(tales) == 0 {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.section()
			t.line("%s", t.amber("the slowest requests cannot be shown: "+notation.Clean(err.Error())))
		}
		return
	}
	t.section()
	t.line("%s", t.bold("The slowest requests that were traced"))
	for i, one := range tales {
		if i > 0 {
			t.line("")
		}
		t.tale(i+1, one)
	}
}

func (t *textWriter) tale(rank int, one tale.Tale) {
	const indent = 4
	t.line("%s  %s", t.bold(right(fmt.Sprint(rank), 2)), t.bold(fit(taleTitle(one), t.width-indent)))
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

// taleTitle says which request it was.
func taleTitle(one tale.Tale) string {
	title := fmt.Sprintf("%s in the service, from %.3f s", notation.Duration(int64(one.Took)), one.Begin.Seconds())
	if one.Name != "" {
		title += fmt.Sprintf(": request %s (%s), %s for its sender", notation.Clean(one.ID), notation.Clean(one.Name), notation.Duration(int64(one.Latency)))
	}
	return title
}

// stepText describes a step, how often it occurred and for whom.
func stepText(s tale.Step) string {
	text := s.Text
	if s.Times > 1 {
		text += fmt.Sprintf(", %d times", s.Times)
	}
	if s.For != "" {
		text += ": for " + s.For
	}
	return notation.Clean(text)
}
