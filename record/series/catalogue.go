package series

import (
	_ "embed"
	"fmt"
	"maps"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
)

// Info holds the fixed properties of a series of the catalogue.
type Info struct {
	Name    string // as in a bundle: "load.requests"
	Unit    string // ns, bytes, 1 or 1/s
	Counter bool   // an amount per window that is never negative; else a gauge
	Most    bool   // a gauge that is the largest value within its window, not the last
	Labels  string // names of the labels it may carry, comma separated; "" for none
	Meaning string // half a sentence for readers; "" for a series of runtime/metrics
	Source  string // kernel file, view or system call that the figure is from
}

// Known returns the fixed properties of a series name, and whether a bundle may hold
// that name: one of catalogue.txt, or one of runtime/metrics, whose unit follows from
// its name and whose kind is not known here.
func Known(name string) (Info, bool) {
	if strings.HasPrefix(name, "/") {
		_, unit, ok := strings.Cut(name, ":")
		return Info{Name: name, Unit: runtimeUnit(unit), Labels: "q,size", Source: "runtime/metrics"}, ok
	}
	info, ok := catalogue()[name]
	return info, ok
}

// Counts reports whether a series is a counter: whether its values are amounts per window.
func Counts(s Series) bool {
	_, unit, runtime := strings.Cut(s.Name, ":")
	switch q := Label(s.Labels, "q"); {
	case !runtime || !strings.HasPrefix(s.Name, "/"):
		return catalogue()[s.Name].Counter
	case q != "":
		return q == "count" // of a histogram's events
	}
	return unit == "cpu-seconds" || cumulative()[s.Name]
}

// cumulative names the metrics of runtime/metrics that only grow, as this program's runtime
// has them: the record does not hold their kind. One that only a newer runtime has counts
// as a gauge.
var cumulative = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, d := range metrics.All() {
		names[d.Name] = d.Cumulative
	}
	return names
})

// Names returns the series of catalogue.txt, sorted. Those of runtime/metrics, which
// depend on the target's Go, are not among them.
func Names() []string { return slices.Sorted(maps.Keys(catalogue())) }

// runtimeUnit maps the unit in a runtime/metrics name to the catalogue's.
func runtimeUnit(unit string) string {
	switch {
	case strings.Contains(unit, "seconds"):
		return "ns"
	case unit == "bytes":
		return "bytes"
	default:
		return "1"
	}
}

//go:embed catalogue.txt
var table string

// catalogue returns the table by name. It is parsed once; a test makes sure that it
// parses, so a panic is a mistake in an edit of the table.
var catalogue = sync.OnceValue(func() map[string]Info {
	infos := map[string]Info{}
	for _, group := range parse(table) {
		for _, row := range group.rows {
			infos[row.Name] = row.Info
		}
	}
	return infos
})

// group is a paragraph of the table: its heading, and rows below it.
type group struct {
	heading []string
	rows    []row
}

type row struct {
	constant string // in names.go
	Info
}

// parse reads the table. Its first paragraph explains it and has no rows.
func parse(text string) (groups []group) {
	last := &group{}
	for number, line := range strings.Split(text, "\n") {
		switch heading, comment := strings.CutPrefix(line, "#"); {
		case line == "" || comment && len(last.rows) > 0:
			if len(last.heading)+len(last.rows) > 0 {
				groups = append(groups, *last)
			}
			last = &group{}
			if comment {
				last.heading = []string{strings.TrimSpace(heading)}
			}
		case comment:
			last.heading = append(last.heading, strings.TrimSpace(heading))
		default:
			fields := strings.Split(line, " | ")
			if len(fields) != 7 {
				panic(fmt.Sprintf("catalogue.txt:%d: %d fields instead of 7", number+1, len(fields)))
			}
			for i := range fields {
				fields[i] = strings.TrimSpace(fields[i])
			}
			last.rows = append(last.rows, row{fields[0], Info{
				Name: fields[1], Counter: fields[2] == "counter", Most: fields[2] == "peak", Unit: fields[3],
				Labels: strings.TrimPrefix(fields[4], "-"), Meaning: fields[5], Source: fields[6],
			}})
		}
	}
	return groups
}
