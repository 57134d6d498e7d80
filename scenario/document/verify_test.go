package document

import (
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario/criteria"
)

func TestVerifySection(t *testing.T) {
	const head = "requests: [{get: \"http://127.0.0.1:1/\"}]\n"
	plan, err := parse(nil, "s.yaml", []byte(head+"verify: {cpu_per_request: 3%, p99: {margin: 10%, advisory: true}, "+
		"rss: off, p50: {advisory: true}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []criteria.Comparison{
		{Metric: "cpu_per_request", Margin: 0.03}, {Metric: "p99", Margin: 0.10, Advisory: true},
		{Metric: "rss", Off: true}, {Metric: "p50", Advisory: true},
	}
	if !slices.Equal(plan.Verify, want) {
		t.Errorf("decoded %+v, want %+v", plan.Verify, want)
	}
	plan, err = parse(nil, "s.yaml", []byte(head+"verify: {primary: [throughput, allocs_per_request], throughput: 3%}\n"), nil)
	want = []criteria.Comparison{{Metric: "throughput", Margin: 0.03, Primary: true}, {Metric: "allocs_per_request", Primary: true}}
	if err != nil || !slices.Equal(plan.Verify, want) {
		t.Errorf("decoded %+v, %v, want %+v", plan.Verify, err, want)
	}
	for text, hint := range map[string]string{
		"verify: {primary: [cpu]}":               "cpu_per_request",
		"verify: {primary: [p99], p99: off}":     "p99 is primary",
		"verify: {cpu: 3%}":                      "cpu_per_request",
		"verify: {p99: 3}":                       "3%",
		"verify: {p99: 0%}":                      "above 0",
		"verify: {p99: {margins: 3%}}":           "margin",
		"verify: {p99: {advisory: maybe}}":       "true nor false",
		"verify: [p99]":                          "verify",
		"verify: {p99: {margin: [3%]}, rss: on}": "rss",
	} {
		if _, err := parse(nil, "s.yaml", []byte(head+text+"\n"), nil); err == nil || !strings.Contains(err.Error(), hint) ||
			!strings.Contains(err.Error(), "s.yaml:2:") {
			t.Errorf("%s gives %v, which should point at line 2 and speak of %q", text, err, hint)
		}
	}
}
