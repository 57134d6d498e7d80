//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/bench/load/generator"
	"github.com/redline-go/redline/benchmark"
)

// results are all sections measured on one machine, each when it last was.
type results struct {
	Schema   string     `json:"schema"` // "redline.load-bench/1"
	Machine  machine    `json:"machine"`
	Command  string     `json:"command"`
	Sections []*section `json:"sections"`
}

// section is one table and its marks.
type section struct {
	Name    string          `json:"name"`
	Title   string          `json:"title"`
	About   string          `json:"about"` // how it was measured
	Date    time.Time       `json:"date"`
	Redline string          `json:"redline"` // revision
	Short   bool            `json:"short,omitempty"`
	Busy    float64         `json:"busy_before"` // share of all cores that others used just before
	Columns []string        `json:"columns"`
	Rows    [][]string      `json:"rows"`
	Marks   []mark          `json:"marks"`
	Notes   []string        `json:"notes"`
	Raw     json.RawMessage `json:"raw"`
}

// mark is one figure that the project requires, and its measurement.
type mark struct {
	What    string `json:"what"`
	Want    string `json:"want"`
	Got     string `json:"got"`
	Verdict string `json:"verdict"`
}

const (
	met         = "met"
	missed      = "MISSED"
	notMeasured = "not measured"
)

func verdict(ok bool) string {
	if ok {
		return met
	}
	return missed
}

// mostBusy is the usage up to which a machine counts as idle.
const mostBusy = 0.05

// addRaw adds to the section's raw figures under a name.
func (s *section) addRaw(name string, value any) {
	raw := map[string]json.RawMessage{}
	if err := json.Unmarshal(s.Raw, &raw); err != nil {
		panic(err) // only ever an object that addRaw wrote
	}
	raw[name], _ = json.Marshal(value)
	s.Raw, _ = json.Marshal(raw)
}

// openResults reads the results of earlier runs; a missing file holds none.
func openResults(file string) (*results, error) {
	r := &results{}
	if err := generator.ReadJSON(file, r); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("earlier results: %w (hint: -o another file)", err)
	}
	r.Schema = "redline.load-bench/1"
	return r, nil
}

func (r *results) section(name string) *section {
	for _, s := range r.Sections {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// put replaces a section's earlier measurement, in the order of sectionNames.
func (r *results) put(s *section) {
	r.Sections = slices.DeleteFunc(r.Sections, func(old *section) bool { return old.Name == s.Name })
	r.Sections = append(r.Sections, s)
	order := sectionNames()
	slices.SortFunc(r.Sections, func(a, b *section) int { return slices.Index(order, a.Name) - slices.Index(order, b.Name) })
}

// write stores the results and their table.
func (r *results) write(file string) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return benchmark.Write(file, data, r.markdown(filepath.Base(file)))
}

func (r *results) markdown(raw string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# The load generator, measured\n\n"+
		"Check how much load the generator reaches, how late it sends, and how its latencies compare with the truth and other tools.\n\n"+
		"Made by `%s`; every run is in [%s](%s).\n\n", r.Command, raw, raw)
	fmt.Fprintf(&b, "Machine: %s, %d cores, Linux %s, %s.\n", r.Machine.CPU, r.Machine.Cores, r.Machine.Kernel, r.Machine.Go)
	var tools []string
	for _, name := range slices.Sorted(maps.Keys(r.Machine.Tools)) {
		tools = append(tools, name+" "+r.Machine.Tools[name])
	}
	fmt.Fprintf(&b, "Tools: %s.\n\n## Marks\n\n", strings.Join(tools, ", "))
	var marks [][]string
	for _, s := range r.Sections {
		for _, m := range s.Marks {
			marks = append(marks, []string{m.What, m.Want, m.Got, m.Verdict})
		}
	}
	writeTable(&b, []string{"figure", "mark", "measured", ""}, marks)
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "\n## %s\n\n%s Measured %s with redline at %s.\n\n", s.Title, s.About,
			s.Date.Format("2006-01-02 15:04 UTC"), s.Redline)
		if s.Short {
			b.WriteString("**A smoke run: the figures mean nothing.**\n\n")
		}
		if s.Busy > mostBusy {
			fmt.Fprintf(&b, "**The machine was not idle: others used %.0f %% of its cores just before.**\n\n", 100*s.Busy)
		}
		writeTable(&b, s.Columns, s.Rows)
		for i, note := range s.Notes {
			if i == 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "- %s\n", note)
		}
	}
	b.WriteString("\n")
	return b.String()
}

func writeTable(b *strings.Builder, columns []string, rows [][]string) {
	line := func(cells []string) {
		b.WriteString("|")
		for _, cell := range cells {
			b.WriteString(" " + strings.ReplaceAll(strings.ReplaceAll(cell, "|", "\\|"), "\n", " ") + " |")
		}
		b.WriteString("\n")
	}
	line(columns)
	b.WriteString(strings.Repeat("|---", len(columns)) + "|\n")
	for _, row := range rows {
		line(row)
	}
}

// thousands writes a count or rate as 212,345.
func thousands(v float64) string {
	digits := fmt.Sprintf("%.0f", v)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// brief writes a time with three significant figures; "-" for none.
func brief(d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	value, unit := float64(d)/1e3, "µs"
	switch {
	case d >= time.Second:
		value, unit = d.Seconds(), "s"
	case d >= time.Millisecond:
		value, unit = float64(d)/1e6, "ms"
	}
	decimals := 2
	for v := value; v >= 10 && decimals > 0; v /= 10 {
		decimals--
	}
	return fmt.Sprintf("%.*f %s", decimals, value, unit)
}
