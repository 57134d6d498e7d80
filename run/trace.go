package run

import (
	"maps"
	"net/url"
	"os"
	"strings"

	"github.com/redline-go/redline/scenario"
)

// trace returns the first half of the trace ids that a run gives to its
// requests, different for each run; zero for a blind run, which gives none.
func (c *conductor) trace() uint64 {
	if c.Blind {
		return 0
	}
	x := uint64(c.clock.EpochWall.UnixNano()) ^ uint64(c.clock.EpochMonotonic)<<20
	x = (x ^ x>>32) * 0xd6e8feb86659fd93
	return (x ^ x>>32) | 1
}

// Variables that set an OpenTelemetry exporter's destination.
const (
	otlpEndpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	otlpTraces   = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	otlpHeaders  = "OTEL_EXPORTER_OTLP_HEADERS"
)

// exporting returns the plan's target with the address that spans are received
// at in its environment, unless it already names their destination.
func (c *conductor) exporting() scenario.Target {
	p := c.Plan
	t := p.Target
	if c.Blind || len(p.Observe.OTLP) == 0 || len(t.Exec) == 0 && t.Build == "" {
		return t
	}
	for _, name := range []string{otlpEndpoint, otlpTraces} {
		if _, set := t.Env[name]; set || os.Getenv(name) != "" {
			return t
		}
	}
	// The last of the standard ports is the one of HTTP; both are served at each.
	address := p.Observe.OTLP[len(p.Observe.OTLP)-1]
	if strings.HasSuffix(address, ":0") {
		return t // its port is known only after the target has started
	}
	t.Env = maps.Clone(t.Env)
	if t.Env == nil {
		t.Env = map[string]string{}
	}
	t.Env[otlpEndpoint] = "http://" + strings.Replace(strings.Replace(address, "0.0.0.0:", "127.0.0.1:", 1), "[::]:", "[::1]:", 1)
	if token := p.Observe.OTLPToken; token != "" {
		t.Env[otlpHeaders] = "authorization=" + url.PathEscape("Bearer "+token)
	}
	return t
}
