package http1

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// ask sends x over a new wire and gives that the answer. It returns the bytes sent.
func ask(t *testing.T, p *Protocol, host int, x *load.Exchange, answer string) string {
	t.Helper()
	w := p.Wire(host)
	out, err := w.Send(x, w.Open(nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, ended, err := w.Receive([]byte(answer), 1, nil, nil); err != nil || len(ended) != 1 {
		t.Fatalf("%d exchanges ended (%v)", len(ended), err)
	}
	return string(out)
}

// away is an answer that sends elsewhere.
func away(status int, location string) string {
	return fmt.Sprintf("HTTP/1.1 %d Away\r\nContent-Length: 3\r\nLocation: %s\r\n\r\nbye", status, location)
}

func TestFollow(t *testing.T) {
	const two = "HTTP/1.1\r\nHost: two.test:81\r\nUser-Agent: redline\r\n"
	const tail = "HTTP/1.1\r\nHost: one.test\r\nUser-Agent: redline\r\n"
	tests := []struct {
		name     string
		method   string
		status   int
		location string
		host     int
		want     string
	}{
		{"path", "GET", 302, "/b", 0, "GET /b " + tail + "Authorization: me\r\nContent-Type: text/plain\r\n\r\n"},
		{"relative", "GET", 301, "b?c", 0, "GET /dir/b?c " + tail + "Authorization: me\r\nContent-Type: text/plain\r\n\r\n"},
		{"up", "GET", 307, "../b#fragment", 0, "GET /b " + tail + "Authorization: me\r\nContent-Type: text/plain\r\n\r\n"},
		{"query", "GET", 308, "?q=a b\u00fc", 0, "GET /dir/a?q=a%20b%C3%BC " + tail + "Authorization: me\r\nContent-Type: text/plain\r\n\r\n"},
		{"absolute, default port", "GET", 302, "HTTP://ONE.test:80/b", 0, "GET /b " + tail + "Authorization: me\r\nContent-Type: text/plain\r\n\r\n"},
		{"other host", "GET", 302, "http://two.test:81", 1, "GET / " + two + "Authorization: me\r\nContent-Type: text/plain\r\n\r\n"},
		{"no scheme", "GET", 302, "//two.test:81/b", 1, "GET /b " + two + "Authorization: me\r\nContent-Type: text/plain\r\n\r\n"},
		{"POST to GET", "POST", 301, "/b", 0, "GET /b " + tail + "Authorization: me\r\n\r\n"},
		{"POST to GET", "POST", 302, "/b", 0, "GET /b " + tail + "Authorization: me\r\n\r\n"},
		{"POST to GET", "POST", 303, "/b", 0, "GET /b " + tail + "Authorization: me\r\n\r\n"},
		{"POST stays", "POST", 307, "/b", 0, "POST /b " + tail + "Authorization: me\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nbody"},
		{"PUT stays", "PUT", 302, "/b", 0, "PUT /b " + tail + "Authorization: me\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nbody"},
		{"PUT to GET", "PUT", 303, "/b", 0, "GET /b " + tail + "Authorization: me\r\n\r\n"},
	}
	for _, test := range tests {
		q := scenario.Request{Method: test.method, URL: "http://one.test/dir/a", Follow: true, Expect: 200,
			Headers: map[string]scenario.Secret{"Authorization": "me", "Content-Type": "text/plain"}}
		if test.method != "GET" {
			q.Body = "body"
		}
		p := protocol(t, &scenario.Plan{Requests: []scenario.Request{q, {URL: "http://two.test:81/"}}})
		var x load.Exchange
		ask(t, p, 0, &x, away(test.status, test.location))
		if string(x.Redirect) != test.location || x.Err != nil || x.Status != test.status {
			t.Errorf("%s: redirect %q, status %d (%v)", test.name, x.Redirect, x.Status, x.Err)
		}
		host, err := p.Follow(&x)
		// The fate of the next request is not the redirect's.
		if err != nil || host != test.host || len(x.Redirect) != 0 || x.Status != 0 || x.FirstByte != 0 || x.Done != 0 {
			t.Errorf("%s: host %d, redirect %q (%v)", test.name, host, x.Redirect, err)
			continue
		}
		if got := ask(t, p, host, &x, ok); got != test.want || x.Status != 200 || x.Err != nil {
			t.Errorf("%s: status %d (%v)\n got %q\nwant %q", test.name, x.Status, x.Err, got, test.want)
		}
	}
}

func TestWhatIsNotFollowed(t *testing.T) {
	p := protocol(t, &scenario.Plan{Requests: []scenario.Request{{URL: "http://one.test/", Follow: true}}})
	var x load.Exchange
	ask(t, p, 0, &x, away(302, "http://elsewhere.test/"))
	if _, err := p.Follow(&x); failure.Of(err) != failure.Redirect || x.Status != 302 {
		t.Errorf("error %v, status %d", err, x.Status)
	}
}

// TestRedirectsAsAnswers: without follow, without a Location, and with a status
// that sends nowhere.
func TestRedirectsAsAnswers(t *testing.T) {
	for answer, follow := range map[string]bool{
		away(302, "/b"): false,
		"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n": true,
		away(300, "/b"): true,
		away(201, "/b"): true,
		// Nothing of an interim answer remains.
		"HTTP/1.1 103 Early Hints\r\nLocation: /c\r\n\r\nHTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n": true,
	} {
		p := protocol(t, &scenario.Plan{Requests: []scenario.Request{{URL: "http://one.test/", Follow: follow}}})
		var x load.Exchange
		if ask(t, p, 0, &x, answer); len(x.Redirect) != 0 || x.Err != nil {
			t.Errorf("%q: redirect %q (%v)", answer, x.Redirect, x.Err)
		}
	}
}

// TestRedirectKeepsItsRow: by the time of the redirect the cursor stands on the
// row of another request.
func TestRedirectKeepsItsRow(t *testing.T) {
	plan := &scenario.Plan{
		Requests: []scenario.Request{{Method: "PUT", URL: "http://one.test/{{u}}/a", Body: "body {{u}}", Follow: true,
			Headers: map[string]scenario.Secret{"X": "{{u}}", "Host": "virtual"}}},
		Data: map[string]*feeder.Table{"u": {Columns: []string{"id"}, Rows: [][]string{{"1"}, {"2"}, {"3"}}}},
	}
	p := protocol(t, plan)
	cursor := plan.NewCursor(1)
	row := plan.NewCursor(1)
	compiled, err := feeder.CompileTemplate("{{u}}", plan.Data)
	if err != nil {
		t.Fatal(err)
	}
	want := string(compiled.Append(nil, row))
	x := load.Exchange{Data: cursor}
	ask(t, p, 0, &x, away(307, "b"))
	cursor.Next()
	if _, err := p.Follow(&x); err != nil {
		t.Fatal(err)
	}
	for _, again := range []string{away(307, "c"), ok} {
		got := ask(t, p, 0, &x, again)
		for _, part := range []string{"PUT /" + want + "/", "\r\nX: " + want + "\r\n", "\r\nHost: virtual\r\n", "\r\n\r\nbody " + want} {
			if !bytes.Contains([]byte(got), []byte(part)) {
				t.Errorf("%q does not hold %q", got, part)
			}
		}
		if len(x.Redirect) > 0 {
			if _, err := p.Follow(&x); err != nil {
				t.Fatal(err)
			}
		}
	}
}
