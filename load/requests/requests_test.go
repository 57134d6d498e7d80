package requests

import (
	"crypto/tls"
	"errors"
	"strings"
	"testing"

	"github.com/redline-go/redline/load/endpoint"
	"github.com/redline-go/redline/scenario"
)

func TestEachNamesTheRequest(t *testing.T) {
	bad := errors.New("bad")
	for want, requests := range map[string][]scenario.Request{
		"p: the plan has no request": nil,
		"p: request 2: bad":          {{}, {}},
		"p: request pay: bad":        {{}, {Name: "pay"}},
	} {
		err := Each("p", &scenario.Plan{Requests: requests}, func(i int, _ *scenario.Request) error {
			if i == 1 {
				return bad
			}
			return nil
		})
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestHeaders(t *testing.T) {
	given, err := Headers(map[string]scenario.Secret{"X-Tab": "a\tb", "host": "h"})
	if err != nil || len(given) != 2 || !given["x-tab"] || !given["host"] {
		t.Errorf("given %v: %v", given, err)
	}
	for want, headers := range map[string]map[string]scenario.Secret{
		"cannot be sent":    {"a b": ""},
		"given twice":       {"Host": "", "host": ""},
		"control character": {"a": "b\r\nc: d"},
	} {
		if _, err := Headers(headers); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: got %v, want %s", headers, err, want)
		}
	}
}

// TestHosts: scheme and address make a host, and the first request's settings are the host's.
func TestHosts(t *testing.T) {
	var h Hosts
	secure := &tls.Config{}
	for i, add := range []struct {
		at   endpoint.Endpoint
		want int
	}{
		{endpoint.Endpoint{Scheme: "http", Address: "a:80", Path: "/1"}, 0},
		{endpoint.Endpoint{Scheme: "https", Address: "a:80", TLS: secure}, 1},
		{endpoint.Endpoint{Scheme: "http", Address: "A:80", Path: "/2"}, 0},
		{endpoint.Endpoint{Scheme: "https", Address: "a:80", TLS: &tls.Config{}}, 1},
		{endpoint.Endpoint{Scheme: "http", Address: "b:80"}, 2},
	} {
		if got := h.Add(add.at, "h2"); got != add.want {
			t.Errorf("%d: host %d, want %d", i, got, add.want)
		}
	}
	if len(h.All) != 3 || h.All[1].TLS != secure || len(secure.NextProtos) != 1 || secure.NextProtos[0] != "h2" {
		t.Errorf("hosts %+v", h.All)
	}
	if h.Endpoints[0].Path != "/1" {
		t.Errorf("endpoint %+v", h.Endpoints[0])
	}
}
