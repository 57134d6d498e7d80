package laws

import (
	"fmt"
	"testing"
)

// The example of docs/how-it-measures.md: what its table says a finding is worth.
func TestDocumentedExample(t *testing.T) {
	const goroutine, cpus = "the goroutine", "the host's 2 CPUs"
	m := Model{Response: 0.64, Resources: []Resource{
		{Name: goroutine, Servers: 1, Busy: 0.98, Queue: 0.6},
		{Name: cpus, Servers: 2, Busy: 1.02},
	}}
	for removed, c := range map[string]struct {
		cut  Cut
		want string
	}{
		"the sleep":     {Cut{Time: 0.03}, "1.0x, then the goroutine"},
		"the sorting":   {Cut{Busy: map[string]float64{goroutine: 0.9 * 0.98, cpus: 0.88}}, "10.0x, then the goroutine"},
		"the handler's": {Cut{Time: 0.01, Busy: map[string]float64{cpus: 0.02}}, "1.0x, then the goroutine"},
	} {
		g := m.Gain(c.cut)
		if got := fmt.Sprintf("%.1fx, then %s", g.Factor, g.Then); got != c.want {
			t.Errorf("%s: %s, the page says %s", removed, got, c.want)
		}
	}
}
