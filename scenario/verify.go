package scenario

import (
	"github.com/goccy/go-yaml/ast"
)

// Comparison says how ab and gate treat one metric. The zero value of a metric
// that is not named is verify's default.
type Comparison struct {
	Metric string `json:"metric"` // one of ComparedMetrics
	// Margin is the relative change that is still acceptable, 0.05 for 5 %; 0
	// keeps the metric's default.
	Margin   float64 `json:"margin,omitempty"`
	Advisory bool    `json:"advisory,omitempty"` // reported, and does not decide
	Off      bool    `json:"off,omitempty"`      // not compared at all
}

// ComparedMetrics names the metrics that two sides can be compared by.
func ComparedMetrics() []string {
	return []string{"cpu_per_request", "throughput", "p50", "p90", "p99", "allocs_per_request", "bytes_per_request", "gc_cpu", "rss"}
}

// mostMargin is the largest margin: beyond twice as slow nothing is compared.
const mostMargin = 1

// verify decodes the section. A margin alone makes its metric decide; `off`
// leaves it out.
func (d *decoder) verify(n ast.Node) {
	var keys []key
	for _, name := range ComparedMetrics() {
		keys = append(keys, key{name: name, decode: func(d *decoder, n ast.Node) { d.comparison(n, name) }})
	}
	d.mapping(n, "verify", keys)
}

func (d *decoder) comparison(n ast.Node, name string) {
	c := Comparison{Metric: name}
	if _, nested := n.(*ast.MappingNode); nested {
		d.mapping(n, name, []key{
			{name: "margin", decode: func(d *decoder, n ast.Node) { scalar(d, n, "margin", &c.Margin, parseMargin) }},
			{name: "advisory", decode: func(d *decoder, n ast.Node) { scalar(d, n, "advisory", &c.Advisory, parseBool) }},
		})
	} else if text, ok := d.text(n, name); !ok {
		return
	} else if text == "off" {
		c.Off = true
	} else if margin, err := parseMargin(text); err != nil {
		d.failErr(n, name, err)
		return
	} else {
		c.Margin = margin
	}
	d.plan.Verify = append(d.plan.Verify, c)
}

func parseMargin(text string) (float64, error) {
	margin, err := parseShare(text)
	if err != nil {
		return 0, err
	}
	if !(margin > 0 && margin <= mostMargin) {
		return 0, mistakef("write it as 5%", "a margin is above 0 and at most 100%%")
	}
	return margin, nil
}
