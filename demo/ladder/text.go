package ladder

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/redline-go/redline/notation"
)

var columns = []string{"rung", "called for by", "requests/s", "gain", "P95", "gain of P95", "CPU/request"}

// rows are the table of a ladder: per rung its figures in the comparison with the rung
// below. The first rung's are those that the second was compared with.
func (r *Result) rows() [][]string {
	var rows [][]string
	for i, rung := range r.Rungs {
		row := []string{rung.Name, "", notation.Rate(rung.Rate), "", notation.Duration(rung.P95), "", ""}
		if i > 0 {
			row[1] = rung.CalledFor()
		}
		switch {
		case rung.Against != nil:
			compared(row, rung.Against)
		case i+1 < len(r.Rungs) && r.Rungs[i+1].Against != nil:
			below := r.Rungs[i+1].Against
			figures(row, below, func(c Change) float64 { return c.A })
		}
		rows = append(rows, row)
	}
	if r.Whole != nil {
		row := []string{"last against first", "", "", "", "", "", ""}
		compared(row, r.Whole)
		rows = append(rows, row)
	}
	return rows
}

func compared(row []string, c *Comparison) {
	figures(row, c, func(c Change) float64 { return c.B })
	if change, ok := c.Of(Throughput); ok {
		row[3] = change.Text()
	} else if c.Invalid != "" {
		row[3] = "not measured: " + c.Invalid
	}
	if change, ok := c.Of(P95); ok {
		row[5] = change.Text()
	}
}

// figures fills in what one side of a comparison measured.
func figures(row []string, c *Comparison, of func(Change) float64) {
	for at, metric := range map[int]string{2: Throughput, 4: P95, 6: CPU} {
		change, ok := c.Of(metric)
		switch v := of(change); {
		case !ok || !(v > 0):
			row[at] = "no data"
		case metric == Throughput:
			row[at] = notation.Rate(v)
		default:
			row[at] = notation.Span(v)
		}
	}
}

// Text writes the ladder as a table with what was checked and the claims.
func (r *Result) Text(w io.Writer) error {
	var b bytes.Buffer
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, strings.Join(columns, "\t"))
	for _, row := range r.rows() {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	_ = table.Flush() // into memory
	b.WriteString("\n" + r.Checked() + "\n" + r.paced() + "\n")
	for _, m := range r.Marks() {
		fmt.Fprintf(&b, "%s: claimed %s, measured %s: %s\n", m.What, m.Claimed, orNothing(m.Measured), m.Verdict)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Markdown writes the same as tables.
func (r *Result) Markdown(w io.Writer) error {
	var b strings.Builder
	b.WriteString("| " + strings.Join(columns, " | ") + " |\n|" + strings.Repeat(" --- |", len(columns)) + "\n")
	for _, row := range r.rows() {
		b.WriteString("| " + strings.Join(row, " | ") + " |\n")
	}
	b.WriteString("\n" + r.Checked() + " " + r.paced() + "\n\n| claim | claimed | measured | |\n| --- | --- | --- | --- |\n")
	for _, m := range r.Marks() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", m.What, m.Claimed, orNothing(m.Measured), m.Verdict)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// paced words the last rung's figures in the open loop.
func (r *Result) paced() string {
	switch p := r.Paced; {
	case p == nil:
		return "The last rung was not measured at a rate."
	case p.Why != "":
		return "The last rung's figures at a rate do not count: " + p.Why + "."
	default:
		return fmt.Sprintf("The last rung at %s requests/s in an open loop: P95 %s, P99 %s.",
			notation.Rate(p.Offered), notation.Duration(p.P95), notation.Duration(p.P99))
	}
}

func orNothing(measured string) string {
	if measured == "" {
		return "nothing"
	}
	return measured
}

// Checked words how intervals came about and what was checked besides speed.
func (r *Result) Checked() string {
	answers, made, launches, fault := 0, int64(0), 0, ""
	count := func(c *Comparison) {
		if c == nil {
			return
		}
		for _, a := range c.Accounts {
			made, fault = made+a.Made, cmp.Or(fault, a.Fault())
		}
		launches += 2 * c.Launches
	}
	for _, rung := range r.Rungs {
		answers += rung.Answers
		count(rung.Against)
	}
	count(r.Whole)
	form := "Gains have 95 % intervals over pairs of launches."
	if r.Quick {
		form = "Gains have 95 % intervals over pairs of turns within one launch of each state; " +
			"gains below 3 % count as noise, because launches vary by as much."
	}
	return fmt.Sprintf("%s %s were the same as the first rung's; of %s made in %s %s.",
		form, notation.Counted(int64(answers), "answer", ""), notation.Counted(made, "order", ""),
		notation.Counted(int64(launches), "launch", "launches"), cmp.Or(fault, "no order is lost or doubled"))
}
