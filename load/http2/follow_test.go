package http2

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

func TestRedirectsAreFollowed(t *testing.T) {
	url := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/kept?by=307", http.StatusTemporaryRedirect)
		case "/kept":
			http.Redirect(w, r, "/seen?other", http.StatusSeeOther)
		case "/away":
			http.Redirect(w, r, "http://elsewhere.test/", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/seen":
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("X-Seen", fmt.Sprintf("%s %s %s %q %d", r.Method, r.URL, r.Header.Get("X-Row"), body, r.ContentLength))
		}
	})
	plan := &scenario.Plan{
		Load: scenario.Load{Streams: 4},
		Data: map[string]*feeder.Table{"row": {Columns: []string{"id"}, Rows: [][]string{{"7"}}}},
	}
	for _, path := range []string{"/moved", "/away", "/loop", "/seen"} {
		plan.Requests = append(plan.Requests, scenario.Request{
			Method: "POST", URL: feeder.Template(url + path), Body: "body {{row}}", Follow: true,
			Headers: map[string]scenario.Secret{"X-Row": "{{row}}"},
			Checks: []scenario.Check{
				{Name: "status", Status: []int{200}},
				{Name: "seen", Header: "X-Seen", Contains: `GET /seen?other 7 "" 0`},
			},
		})
	}
	for i, x := range drive(t, plan, 8) {
		kind, status, failed := failure.Kind(""), 200, uint64(0)
		switch {
		case i%4 == 1 || i%4 == 2:
			kind, status = failure.Redirect, 302
		case i%4 == 3:
			failed = 2
		}
		if failure.Of(x.Err) != kind || x.Status != status || x.Failed != failed {
			t.Errorf("exchange %d: %v, status %d, failed checks %b", i, x.Err, x.Status, x.Failed)
		}
	}
}

// decoded is a header block as text.
func decoded(t *testing.T, block []byte) string {
	t.Helper()
	fields, err := hpack.NewDecoder(0, nil).DecodeFull(block)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range fields {
		secret := ""
		if f.Sensitive {
			secret = "!"
		}
		fmt.Fprintf(&b, "%s=%s%s ", f.Name, f.Value, secret)
	}
	return strings.TrimSpace(b.String())
}

func TestHopsToOtherHosts(t *testing.T) {
	p := protocol(t, &scenario.Plan{Requests: []scenario.Request{
		{URL: "http://one.test/path?q", Method: "PUT", Body: "body", Follow: true, Headers: map[string]scenario.Secret{
			"Host": "virtual.test", "Content-Type": "text/plain", "Authorization": "Bearer x", "A": "b"}},
		{URL: "https://two.test:8443/"},
	}})
	fields := "a=b authorization=Bearer x!"
	for _, test := range []struct {
		status           int
		location         string
		host             int
		head, body, name string
	}{
		{307, "/other", 0, ":method=PUT :scheme=http :path=/other :authority=virtual.test " + fields +
			" content-type=text/plain user-agent=redline content-length=4", "body", "the plan's Host stays"},
		{307, "https://two.test:8443/x", 1, ":method=PUT :scheme=https :authority=two.test:8443 :path=/x " + fields +
			" content-type=text/plain user-agent=redline content-length=4", "body", "the Host is the other's"},
		{303, "https://two.test:8443", 1, ":method=GET :scheme=https :authority=two.test:8443 :path=/ " + fields +
			" user-agent=redline", "", "nothing of the body stays"},
	} {
		x := &load.Exchange{Status: test.status, Redirect: []byte(test.location)}
		host, err := p.Follow(x)
		if err != nil || host != test.host {
			t.Errorf("%s: host %d (%v)", test.name, host, err)
			continue
		}
		m := new(rendering).hop(&p.requests[0], x, &p.hosts.Endpoints[host])
		if got := decoded(t, m.Block); got != test.head || string(m.Body) != test.body {
			t.Errorf("%s:\n got %s, %q\nwant %s, %q", test.name, got, m.Body, test.head, test.body)
		}
	}
}

func TestChecks(t *testing.T) {
	url := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Kind", "Cat and dog")
		if r.URL.Path == "/created" {
			w.WriteHeader(http.StatusCreated)
		}
		io.WriteString(w, `{"id": 7, "name": "`+strings.Repeat("x", 50000)+`"}`)
	})
	seven := "7"
	checks := []scenario.Check{
		{Name: "a", Status: []int{200, 202}}, {Name: "b", Header: "x-kind"}, {Name: "c", Header: "X-Kind", Contains: "dog"},
		{Name: "d", Header: "X-Kind", Equals: &seven}, {Name: "e", Header: "X-None"}, {Name: "f", Body: true, Contains: `xx"`},
		{Name: "g", JSON: "$.id", Equals: &seven}, {Name: "h", JSON: "$.none"},
	}
	plan := &scenario.Plan{Load: scenario.Load{Streams: 8}, Requests: []scenario.Request{
		{URL: feeder.Template(url + "/"), Checks: checks},
		{URL: feeder.Template(url + "/created"), Checks: checks, Expect: 200},
		{URL: feeder.Template(url + "/")},
	}}
	for i, x := range drive(t, plan, 30) {
		kind, failed := failure.Kind(""), uint64(0b10011000)
		switch i % 3 {
		case 1:
			kind, failed = failure.Status, 0b10011001
		case 2:
			failed = 0
		}
		if failure.Of(x.Err) != kind || x.Failed != failed {
			t.Errorf("exchange %d: %v, failed checks %b", i, x.Err, x.Failed)
		}
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	for want, q := range map[string]scenario.Request{
		`scheme "ftp"`:                 {URL: "ftp://h.test/"},
		"has the scheme tcp":           {URL: "tcp://h.test:1"},
		"cannot come from data":        {URL: "http://{{u}}/"},
		`method "A B"`:                 {URL: "http://h.test/", Method: "A B"},
		`method "CONNECT"`:             {URL: "http://h.test/", Method: "CONNECT"},
		"set by redline":               {URL: "http://h.test/", Headers: map[string]scenario.Secret{"content-Length": "5"}},
		"HTTP/2 does not have it":      {URL: "http://h.test/", Headers: map[string]scenario.Secret{"Connection": "close"}},
		`can only be "trailers"`:       {URL: "http://h.test/", Headers: map[string]scenario.Secret{"TE": "gzip"}},
		"given twice":                  {URL: "http://h.test/", Headers: map[string]scenario.Secret{"A": "5", "a": "5"}},
		"header name":                  {URL: "http://h.test/", Headers: map[string]scenario.Secret{"A:": "5"}},
		"contains a control character": {URL: "http://h.test/", Headers: map[string]scenario.Secret{"A": "secret\r\nB: 6"}},
		"no feeder named":              {URL: "http://h.test/{{nobody}}"},
		"check broken":                 {URL: "http://h.test/", Checks: []scenario.Check{{Name: "broken"}}},
	} {
		q.Name = "it"
		_, err := New(&scenario.Plan{Requests: []scenario.Request{q}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "http2: request it") {
			t.Errorf("error %v, want it to say %q", err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v shows a secret", err)
		}
	}
	if _, err := New(&scenario.Plan{}); err == nil {
		t.Error("a plan without requests is taken")
	}
}
