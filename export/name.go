package export

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
)

// label is a name and a value.
type label struct{ name, value string }

// line is a series as the exporters name it.
type line struct {
	series  series.Series
	metric  string  // Prometheus' name, without the suffix of a histogram's parts
	name    string  // OTLP's
	unit    string  // OTLP's, of UCUM
	labels  []label // the series' own, sorted, names fit for Prometheus
	per     float64 // of the record's units in an exported one; a divisor keeps decimals short
	counter bool
	total   float64 // of a counter, in the record's unit

	histogram bool
	spread    spread // of a histogram: all that was sent
}

// newLine names a series.
func newLine(s series.Series) *line {
	l := &line{series: s, per: 1, counter: series.Counts(s), labels: labelsOf(s.Labels), unit: "1"}
	l.name, l.metric = "redline."+s.Name, "redline_"+fit(s.Name)
	suffix := ""
	switch s.Unit {
	case "ns":
		l.unit, l.per, suffix = "s", 1e9, "_seconds"
	case "bytes":
		l.unit, suffix = "By", "_bytes"
	case "1/s":
		l.unit, suffix = "1/s", "_per_second"
	}
	if path, unit, ok := runtimeName(s.Name); ok {
		l.name = "redline.go." + strings.ReplaceAll(path, "/", ".") + "." + unit
		l.metric, suffix = "redline_go_"+fit(path)+"_"+fit(unit), ""
		// The events of a histogram are counted; its name has the values' unit.
		if l.counter && s.Unit == "1" && (unit == "seconds" || unit == "bytes") {
			l.name, suffix = l.name+".events", "_events"
		}
	}
	if !strings.HasSuffix(l.metric, suffix) {
		l.metric += suffix
	}
	if l.counter {
		l.metric += "_total"
	}
	return l
}

// Of the histograms of the latency log.
const (
	histogramName   = "redline.load.request.duration"
	histogramMetric = "redline_load_request_duration_seconds"
)

// newHistogramLine names the latency log's lines of one kind and request.
func newHistogramLine(kind histogram.Kind, request string) *line {
	return &line{
		name: histogramName, metric: histogramMetric, unit: "s", histogram: true,
		labels: []label{{"kind", string(kind)}, {"request", request}},
	}
}

// runtimeName splits a name of runtime/metrics.
func runtimeName(name string) (path, unit string, ok bool) {
	rest, ok := strings.CutPrefix(name, "/")
	if !ok {
		return "", "", false
	}
	path, unit, _ = strings.Cut(rest, ":")
	return path, unit, true
}

// labelsOf parses a canonical label text. The names of the labels that every
// series gets are taken, so a series' own label of that name is renamed as
// Prometheus renames those of a scraped target.
func labelsOf(text string) []label {
	if text == "" {
		return nil
	}
	var all []label
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		name = fit(name)
		if name == "run" || name == "scenario" || name == "le" {
			name = "exported_" + name
		}
		all = append(all, label{name, text8(value)})
	}
	sortLabels(all)
	return all
}

func sortLabels(all []label) {
	slices.SortFunc(all, func(a, b label) int { return strings.Compare(a.name, b.name) })
}

// fit makes a name of letters, digits and underscores, as Prometheus wants it.
func fit(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, name)
	name = strings.Trim(name, "_")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "_" + name
	}
	return name
}

// text8 makes a value valid UTF-8, which protobuf insists on, and not too long.
func text8(value string) string {
	const longest = 512
	return strings.ToValidUTF8(value[:min(len(value), longest)], "_")
}
