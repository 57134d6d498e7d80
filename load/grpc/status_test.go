package grpc

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

func TestTimeouts(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1:                        "1n",
		99_999_999:               "99999999n",
		100_000_000:              "100000u",
		100_000_001:              "100001u", // up: the plan's own timeout comes first
		10 * time.Second:         "10000000u",
		100 * time.Second:        "100000m",
		time.Hour + 1:            "3600001m",
		200_000 * time.Hour:      "12000000M",
		time.Duration(1<<63 - 1): "2562048H",
	} {
		if got := timeoutText(d); got != want || len(got) > 9 {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestStatusNames(t *testing.T) {
	p := &Protocol{}
	for code, want := range map[int]string{0: "OK", 5: "NOT_FOUND", 16: "UNAUTHENTICATED", 17: "17", -1: "-1"} {
		if got := p.StatusName(code); got != want {
			t.Errorf("%d: %s, want %s", code, got, want)
		}
	}
}

// TestHTTPStatuses checks the table of http-grpc-status-mapping.md.
func TestHTTPStatuses(t *testing.T) {
	for status, want := range map[int]string{
		400: "INTERNAL", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "UNIMPLEMENTED",
		429: "UNAVAILABLE", 502: "UNAVAILABLE", 503: "UNAVAILABLE", 504: "UNAVAILABLE",
		200: "UNKNOWN", 302: "UNKNOWN", 500: "UNKNOWN",
	} {
		if got := codeName(codeOf(status)); got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
}

// TestPlansThatCannotBeSent: New refuses them, with a useful reason.
func TestPlansThatCannotBeSent(t *testing.T) {
	for want, change := range map[string]func(*scenario.Plan){
		"has no request":                         func(p *scenario.Plan) { p.Requests = nil },
		"write grpc://... or grpcs://...":        func(p *scenario.Plan) { p.Requests[0].URL = "http://127.0.0.1:1/shop.Shop/Buy" },
		"write it as /package.Service/Method":    func(p *scenario.Plan) { p.Requests[0].URL = "grpc://127.0.0.1:1/" },
		"the method cannot come from data":       func(p *scenario.Plan) { p.Requests[0].URL = "grpc://127.0.0.1:1/shop.Shop/{{d.a}}" },
		"404 is not a status of gRPC":            func(p *scenario.Plan) { p.Requests[0].Expect = 404 },
		"shop.pb: not a descriptor set":          func(p *scenario.Plan) { p.GRPC.Descriptor = []byte("x") },
		"metadata grpc-timeout: it is set by":    meta("grpc-timeout", "1S"),
		"metadata Host: it is set by":            meta("Host", "x"),
		"metadata a b: a key is made of":         meta("a b", "x"),
		"metadata x: a value is printable":       meta("x", "\u00e9"),
		"metadata x-bin: the value of a key":     meta("x-bin", "***"),
		"metadata x: template":                   meta("x", "{{nothing}}"),
		"field shop.Order.i32: the data is not":  func(p *scenario.Plan) { p.Requests[0].Body = `{"i32":"{{d.a}}"}`; p.Data = row("x", "").Data },
		"request Buy: check c: it looks at 0 of": func(p *scenario.Plan) { p.Requests[0].Checks = []scenario.Check{{Name: "c"}} },
	} {
		p := shopPlan(t, "Buy", "{}")
		change(p)
		if _, err := New(context.Background(), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func meta(name string, value scenario.Secret) func(*scenario.Plan) {
	return func(p *scenario.Plan) { p.Requests[0].Headers = map[string]scenario.Secret{name: value} }
}

// TestTryingRowsTakesNoNumbers has a sequence, which must begin with its first
// number when the load does.
func TestTryingRowsTakesNoNumbers(t *testing.T) {
	p := shopPlan(t, "Buy", `{"i32":{{n}}}`)
	p.Data = map[string]*feeder.Table{"n": {Columns: []string{"n"}, Sequence: &feeder.Range{From: 1, To: 9}}}
	protocol := newProtocol(t, p)
	out, err := protocol.requests[0].encode.encode(nil, &encoding{rows: p.NewCursor(1)})
	if string(out) != "\x00\x00\x00\x00\x02\x28\x01" || err != nil {
		t.Errorf("%q (%v)", out, err)
	}
}
