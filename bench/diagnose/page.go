//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
)

// page renders the results: as plain text, or as the Markdown of docs/diagnosis.md.
func (b *bench) page(markdown bool) string {
	var w strings.Builder
	if markdown {
		b.opening(&w)
	}
	held := b.tableOf(func(m measured) bool { return m.Held })
	columns := []corpus.Table{b.table()}
	head := []string{"all"}
	if held.Cases+held.Healthy > 0 {
		columns = append(columns, b.tableOf(func(m measured) bool { return !m.Held }), held)
		head = append(head, "developed on", "held back")
	}
	b.marks(&w, markdown, head, columns, held)
	if markdown {
		w.WriteString(b.about())
	}
	b.confusion(&w, markdown)
	b.failures(&w, markdown)
	if markdown {
		w.WriteString(calibration(b.results.Calibration))
		b.cases(&w)
		w.WriteString("\n")
	}
	return w.String()
}

// roundFile is what the person who measures has to say about the round, in the corpus; the page has it below the marks.
const roundFile = "round.md"

// about returns the text of roundFile; "" without one.
func (b *bench) about() string {
	text, err := os.ReadFile(filepath.Join(b.root, roundFile))
	if err != nil {
		return ""
	}
	return "\n" + strings.TrimSpace(string(text)) + "\n"
}

// marks is the table of the marks: a column per set of services, and whether
// the first of them, all services, meets the mark.
func (b *bench) marks(w *strings.Builder, markdown bool, head []string, columns []corpus.Table, held corpus.Table) {
	all := columns[0]
	mean, most := b.pace()
	first := mark(all.First, all.Cases, corpus.MarkFirst)
	if held.Cases > 0 {
		first += "; held back " + mark(held.First, held.Cases, corpus.MarkFirstHeld)
	}
	rows := []struct {
		name string
		of   func(corpus.Table) string
		mark string
	}{
		{"right cause first", func(t corpus.Table) string { return part(t.First, t.Cases) }, first},
		{"right cause in the first three", func(t corpus.Table) string { return part(t.InFirstThree, t.Cases) },
			mark(all.InFirstThree, all.Cases, corpus.MarkInFirstThree)},
		{"right place", func(t corpus.Table) string { return part(t.Where, t.Placed) }, mark(all.Where, all.Placed, corpus.MarkWhere)},
		{"share within its range", func(t corpus.Table) string { return part(t.Share, t.Ranged) }, ""},
		{"healthy runs without a false finding", func(t corpus.Table) string { return part(t.Healthy-t.Alarmed, t.Healthy) },
			mark(all.Healthy-all.Alarmed, all.Healthy, corpus.MarkQuiet)},
		{"ledgers that add up to 100 % (+/- 1)", func(t corpus.Table) string { return part(t.AddUp, t.Ledgers) },
			mark(all.AddUp, all.Ledgers, corpus.MarkAddsUp)},
		{"ledgers with at most 5 % unattributed", func(t corpus.Table) string { return part(t.Attributed, t.Ledgers) },
			mark(all.Attributed, all.Ledgers, corpus.MarkAttributed)},
		{"runs that could not be judged", func(t corpus.Table) string { return fmt.Sprint(t.Broken) }, ""},
		{"further findings on sick services", func(t corpus.Table) string { return fmt.Sprint(t.Extra) }, ""},
	}
	if markdown {
		fmt.Fprintf(w, "| | %s | mark |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)+2))
	} else if len(head) > 1 {
		fmt.Fprintf(w, "%-36s %s\n", "", strings.Join(head, ", "))
	}
	for _, r := range rows {
		var cells []string
		for _, t := range columns {
			cells = append(cells, r.of(t))
		}
		if markdown {
			fmt.Fprintf(w, "| %s | %s | %s |\n", r.name, strings.Join(cells, " | "), r.mark)
		} else {
			fmt.Fprintf(w, "%-36s %s  %s\n", r.name, strings.Join(cells, ", "), r.mark)
		}
	}
	if markdown {
		w.WriteString("\n")
	}
	fmt.Fprintf(w,
		"%d invalid runs were repeated. A run takes %.1f s on average and at most %.1f s, "+
			"including the build by redline.\n", b.repeats(), mean.Seconds(), most.Seconds())
}

func (b *bench) opening(w *strings.Builder) {
	r := b.results
	fmt.Fprintf(w, `# How often the diagnosis is right

Check how often redline names the right cause at the right place, and how often it raises a false alarm.

The bench builds and runs every service of [corpus/](../corpus) as a user would (redline run SCENARIO), and compares
redline's findings with the service's expect.yaml. On a healthy service, a finding of medium or high confidence
counts as a false alarm. Services are held back whose authors knew the list of causes but had never seen the analyzers.
Most services had been run before, so this page shows that rules made for one service hold for the others, not how redline does
on a service that it has never seen. For that, see [services written blind](blind.md) and [real services](real-services.md).
[Earlier rounds](diagnosis-history.md), and claimed gains against measured ones, have a page of their own.
To measure again:

    %s

%d runs on %s, in %s.
%s, %d CPUs, %s, %s.

`, r.Command, len(r.Runs), r.When.Format("2006-01-02 15:04 MST"), r.Took.Round(time.Second), r.Host.CPUModel,
		r.Host.CPUs, r.Host.Kernel, runtime.Version())
}

func (b *bench) repeats() (n int) {
	for _, m := range b.results.Runs {
		n += m.Repeats
	}
	return n
}

func (b *bench) pace() (mean, most time.Duration) {
	for _, m := range b.results.Runs {
		mean += m.Took
		most = max(most, m.Took)
	}
	return mean / time.Duration(len(b.results.Runs)), most
}

func part(n, all int) string {
	if all == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", n, all, 100*float64(n)/float64(all))
}

func mark(n, all int, at float64) string {
	verdict := "met"
	if all == 0 {
		return "" // nothing was measured that could meet it
	}
	if float64(n) < at*float64(all) {
		verdict = "MISSED"
	}
	return fmt.Sprintf("%.0f %%: %s", 100*at, verdict)
}

// confusion counts which causes came first instead of the expected ones.
func (b *bench) confusion(w *strings.Builder, markdown bool) {
	counts := map[string]int{}
	for _, m := range b.results.Runs {
		if m.First || m.Broken {
			continue
		}
		words := "nothing"
		if len(m.Reported) > 0 {
			words, _, _ = strings.Cut(m.Reported[0], " ")
		}
		counts[fmt.Sprintf("%s: reported %s", m.wanted(), words)]++
	}
	if len(counts) == 0 {
		return
	}
	title(w, markdown, "Confusions")
	keys := make([]string, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprintf(w, "%s%s (%d)\n", bullet(markdown), k, counts[k])
	}
}

func (m measured) wanted() string {
	if m.Kind == corpus.Healthy {
		return "healthy"
	}
	return m.Wanted
}

// failures lists the runs that went wrong, and why as far as that is known.
func (b *bench) failures(w *strings.Builder, markdown bool) {
	first := true
	for _, m := range b.results.Runs {
		if m.OK() {
			continue
		}
		if first {
			title(w, markdown, "Where it is wrong")
			first = false
		}
		fmt.Fprintf(w, "%s%s/%s: %s.", bullet(markdown), m.Kind, m.Name, strings.Join(m.Why, "; "))
		if len(m.Reported) > 0 && m.Kind != corpus.Healthy {
			fmt.Fprintf(w, " redline reported %s.", strings.Join(m.Reported[:min(3, len(m.Reported))], "; "))
		}
		if why := b.misses[m.Name]; why != "" {
			fmt.Fprintf(w, " Why: %s", why)
		}
		w.WriteString("\n")
	}
}

// cases lists the cases that were run.
func (b *bench) cases(w *strings.Builder) {
	title(w, true, "All runs")
	w.WriteString("| case | expected | first | reported first | s |\n|---|---|---|---|---|\n")
	for _, m := range b.results.Runs {
		words, verdict := "nothing", "yes"
		if len(m.Reported) > 0 {
			words = strings.ReplaceAll(m.Reported[0], "|", "\\|")
		}
		if !m.First {
			verdict = "NO"
		}
		fmt.Fprintf(w, "| %s/%s | %s | %s | %s | %.1f |\n", m.Kind, m.Name, m.wanted(), verdict, words, m.Took.Seconds())
	}
}

func title(w *strings.Builder, markdown bool, text string) {
	if markdown {
		fmt.Fprintf(w, "\n## %s\n\n", text)
	} else {
		fmt.Fprintf(w, "\n%s\n", text)
	}
}

func bullet(markdown bool) string {
	if markdown {
		return "- "
	}
	return "  "
}
