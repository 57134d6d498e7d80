package export

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// The text exposition format, version 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
const textType = "text/plain; version=0.0.4; charset=utf-8"

// writeText writes values that are sorted by metric.
func writeText(to *bytes.Buffer, values []value, common []label) {
	last := ""
	for i := range values {
		v := &values[i]
		if v.metric != last {
			last = v.metric
			fmt.Fprintf(to, "# HELP %s %s\n# TYPE %s %s\n", last, escapeHelp(v.help()), last, v.kind())
		}
		if !v.histogram {
			writeSample(to, v.metric, joined(common, v.labels), v.number)
			continue
		}
		v.spread.classic(func(le float64, below uint64) {
			writeSample(to, v.metric+"_bucket", joined(common, v.labels, label{"le", number(le)}), float64(below))
		})
		writeSample(to, v.metric+"_sum", joined(common, v.labels), v.spread.sum)
		writeSample(to, v.metric+"_count", joined(common, v.labels), float64(v.spread.total))
	}
}

func (l *line) kind() string {
	switch {
	case l.histogram:
		return "histogram"
	case l.counter:
		return "counter"
	}
	return "gauge"
}

func (l *line) help() string {
	if l.histogram {
		return "Requests by how long they took, as in redline's latency.hlog."
	}
	return "Redline's series " + text8(l.series.Name) + "."
}

// joined returns all labels, sorted by name.
func joined(common, own []label, more ...label) []label {
	all := make([]label, 0, len(common)+len(own)+len(more))
	all = append(append(append(all, common...), own...), more...)
	sortLabels(all)
	return all
}

func writeSample(to *bytes.Buffer, metric string, labels []label, v float64) {
	to.WriteString(metric)
	for i, l := range labels {
		to.WriteByte("{,"[min(i, 1)])
		to.WriteString(l.name)
		to.WriteString(`="`)
		escapeValue.WriteString(to, l.value)
		to.WriteByte('"')
	}
	if len(labels) > 0 {
		to.WriteByte('}')
	}
	to.WriteByte(' ')
	to.WriteString(number(v))
	to.WriteByte('\n')
}

var escapeValue = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

func escapeHelp(text string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`).Replace(text)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
