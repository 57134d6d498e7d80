package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
)

// sources folds those that delivered into one line. One that did not is shown with its
// reason, because that says how to enable it; sources that were not asked for are left
// out. All shows each.
func (t *textWriter) sources() {
	sources := Asked(t.s.Sources)
	if len(sources) == 0 {
		return
	}
	t.section()
	if t.o.All {
		t.everySource(sources)
		return
	}
	if text := foldedSources(sources); text != "" {
		t.hanging(t.mark(true), text)
	}
	for _, src := range sources {
		if !src.OK {
			t.hanging(t.mark(false), strings.TrimSuffix(notation.Clean(src.Name)+": "+notation.Clean(src.Why), ": "))
		}
	}
}

// foldedSources says in a line that sources delivered, how exactly they are aligned,
// and which have a remark; "" where none delivered.
func foldedSources(sources []record.SourceHealth) string {
	delivered, worst := 0, time.Duration(0)
	var remarks []string
	for _, src := range sources {
		if !src.OK {
			continue
		}
		delivered++
		if src.Samples > 0 {
			worst = max(worst, time.Duration(src.Align.P99))
		}
		if src.Why != "" {
			remarks = append(remarks, notation.Clean(src.Name))
		}
	}
	if delivered == 0 {
		return ""
	}
	text := fmt.Sprintf("%d sources", delivered)
	if delivered == 1 {
		text = "1 source"
	}
	if worst > 0 {
		text += ", clocks aligned within " + notation.Duration(int64(worst)) + " (p99)"
	}
	if len(remarks) > 0 {
		text += "; remarks on " + strings.Join(remarks, ", ") + ": --all"
	}
	return text
}

// everySource prints each source, its health, and how far off its clock may be, and
// all that they remark.
func (t *textWriter) everySource(sources []record.SourceHealth) {
	rows := [][]string{{" ", t.dim("source"), t.dim("samples"), t.dim("aligned within p50"), t.dim("p99"), t.dim("own CPU")}}
	for _, src := range sources {
		row := []string{t.mark(src.OK), notation.Clean(src.Name), notation.Count(src.Samples), "", "", ""}
		if src.Samples > 0 {
			row[3], row[4] = notation.Duration(int64(src.Align.P50)), notation.Duration(int64(src.Align.P99))
		}
		if src.CPU > 0 {
			row[5] = notation.Duration(int64(src.CPU))
		}
		rows = append(rows, row)
	}
	for _, row := range table(rows, 2, 3, 4, 5) {
		t.line("%s", row)
	}
	for _, src := range sources {
		if src.Why == "" {
			continue
		}
		for i, l := range wrap(notation.Clean(src.Name)+": "+notation.Clean(src.Why), t.width-4, 0) {
			t.line("%s%s", spaces(2+2*min(i, 1)), l)
		}
	}
}

// hanging prints text behind a mark of one cell.
func (t *textWriter) hanging(mark, text string) {
	for i, l := range wrap(text, t.width-3, 0) {
		if i > 0 {
			mark = " "
		}
		t.line("%s  %s", mark, l)
	}
}

// Asked leaves out the sources that were not asked for and found nothing.
func Asked(sources []record.SourceHealth) []record.SourceHealth {
	return slices.DeleteFunc(slices.Clone(sources), func(s record.SourceHealth) bool { return s.NotAsked })
}
