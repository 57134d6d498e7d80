package document

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/redline-go/redline/scenario"
)

func TestOTLPInAScenario(t *testing.T) {
	env := func(name string) (string, bool) { return "s3cret", name == "TOKEN" }
	const requests = "requests: [{get: \"http://127.0.0.1/\"}]\n"
	p, err := parse(fstest.MapFS{}, "s.yaml", []byte("observe: {otlp: \"0.0.0.0:4318\", otlp_token: $TOKEN}\n"+requests), env)
	if err != nil || p.Observe.OTLPToken != "s3cret" || len(p.Observe.OTLP) != 1 {
		t.Fatalf("%+v, %v", p, err)
	}
	if strings.Contains(string(p.Redacted()), "s3cret") {
		t.Error("the token is written down")
	}
	if err := p.Apply(scenario.Flags{OTLP: "on", OTLPToken: "other"}); err != nil || p.Observe.OTLPToken != "s3cret" ||
		len(p.Observe.OTLP) != 2 {
		t.Errorf("%+v, %v", p.Observe, err)
	}
	for text, want := range map[string]string{
		"observe: {otlp: \"0.0.0.0:4318\"}\n":                     "REDLINE_OTLP_TOKEN",
		"observe: {otlp: \"collector:4318\"}\n":                   "reachable from other hosts",
		"observe: {otlp: yes-please}\n":                           "s.yaml:1:",
		"observe: {otlp: on, otlp_token: \"a b\"}\n":              "contains a space",
		"observe: {otlp: on, otlp_token: $NOT_SET_ANYWHERE_42}\n": "not set",
		"observe: {spans: on}\n":                                  "unknown key",
	} {
		if _, err := parse(fstest.MapFS{}, "s.yaml", []byte(text+requests), env); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
