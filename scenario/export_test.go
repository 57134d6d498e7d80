package scenario

import (
	"strings"
	"testing"
)

func exported(t *testing.T, x Export) (*Plan, error) {
	t.Helper()
	return FromURL("http://127.0.0.1:1/", Flags{Export: x})
}

func TestExport(t *testing.T) {
	for want, x := range map[string]Export{
		"neither an address":           {Prometheus: "9464"},
		"is reachable from":            {Prometheus: "0.0.0.0:9464"},
		"prometheus is not the URL":    {Prometheus: "ftp://host/"},
		"pyroscope is not the URL":     {Pyroscope: "host:4040"},
		"otlp is not the URL":          {OTLP: "http://"},
		"otlp_token contains a space":  {OTLP: "http://host", OTLPToken: "Bearer x"},
		"reachable from other hosts, ": {Prometheus: "host:9464"},
	} {
		if _, err := exported(t, x); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", x, err, want)
		}
	}
	p, err := exported(t, Export{Prometheus: ":9464"})
	if err != nil || p.Export.Prometheus != "127.0.0.1:9464" {
		t.Errorf("a port alone: %+v, %v", p, err)
	}
	if _, err := exported(t, Export{Prometheus: "0.0.0.0:9464", PrometheusToken: "x"}); err != nil {
		t.Error(err)
	}
}

// TestExportKeepsSecrets: what opens a receiver is not in the record, and the
// token of one receiver does not go to another.
func TestExportKeepsSecrets(t *testing.T) {
	p, err := exported(t, Export{
		Prometheus: "https://bob:hunter2@host/api/v1/write?token=hunter2", PrometheusToken: "hunter2",
		Pyroscope: "https://hunter2@host/", OTLP: "https://host/", OTLPToken: "hunter2",
	})
	if err != nil {
		t.Fatal(err)
	}
	if text := string(p.Redacted()); strings.Contains(text, "hunter2") || !strings.Contains(text, "https://host/api/v1/write") {
		t.Error(text)
	}
	if err := p.Apply(Flags{Export: Export{Prometheus: "https://elsewhere/write"}}); err != nil {
		t.Fatal(err)
	}
	if p.Export.PrometheusToken != "" || p.Export.OTLPToken != "hunter2" {
		t.Errorf("%+v", p.Export)
	}
}
