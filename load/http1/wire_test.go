package http1

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func get(url string) *scenario.Plan {
	return &scenario.Plan{Requests: []scenario.Request{{Name: "get", URL: feeder.Template(url)}}}
}

// protocol compiles a plan, which must be valid.
func protocol(t testing.TB, p *scenario.Plan) *Protocol {
	t.Helper()
	made, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// saying is a target that answers each request with the same bytes. With shut
// it closes after them.
func saying(answer string, shut bool) func() func([]byte) ([]byte, bool) {
	return func() func([]byte) ([]byte, bool) {
		return func(sent []byte) ([]byte, bool) {
			return bytes.Repeat([]byte(answer), bytes.Count(sent, []byte("\r\n\r\n"))), shut
		}
	}
}

// TestAnswers sends a request, and another one after it, for each form of
// answer, right and wrong.
func TestAnswers(t *testing.T) {
	for _, a := range answers {
		if len(a.text) > 4<<10 {
			continue // TestParser has them; cutting them anywhere takes long
		}
		t.Run(a.name, func(t *testing.T) {
			p := get("http://h.test/")
			if a.head {
				p.Requests[0].Method = "HEAD"
			}
			p.Requests[0].Expect = a.want.status
			want := loadtest.Want{Kind: a.want.kind, Status: a.want.status}
			switch {
			case a.want.kind == failure.BadResponse && strings.HasPrefix(a.text, "HTTP/1.1 200 OK\r\n"):
				want.Status = 200 // what is bad came behind it
			case a.want.kind != "" && want.Status < 200:
				want.Status = 0 // an interim answer is none
			}
			loadtest.Wire(t, loadtest.Subject{
				Protocol: protocol(t, p), Target: saying(a.text, !a.want.keep),
				Exchanges: []loadtest.Want{want, want},
			})
		})
	}
}

// nginx is the answer that nginx gives for a file of two bytes.
const nginx = "HTTP/1.1 200 OK\r\nServer: nginx/1.24.0\r\nDate: Sat, 21 Nov 2026 15:00:00 GMT\r\n" +
	"Content-Type: text/plain\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok"

func TestConnectionIsKeptOrNot(t *testing.T) {
	for name, test := range map[string]struct {
		answer, connection string
		keep               bool
	}{
		"kept":                 {answer: ok, keep: true},
		"the answer closes":    {answer: "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"},
		"the plan closes":      {answer: ok, connection: "Close"},
		"more than was asked":  {answer: ok + "H"},
		"no answer may follow": {answer: "HTTP/1.1 101 Switching Protocols\r\n\r\n"},
	} {
		p := get("http://h.test")
		if test.connection != "" {
			p.Requests[0].Headers = map[string]scenario.Secret{"Connection": scenario.Secret(test.connection)}
		}
		w := protocol(t, p).Wire(0)
		for range 2 { // Open resets it
			var x load.Exchange
			w.Open(nil)
			if room, over := w.State(); room != 1 || over {
				t.Errorf("%s: room %d, over %v once open", name, room, over)
			}
			if _, err := w.Send(&x, nil); err != nil {
				t.Fatal(err)
			}
			if room, over := w.State(); room != 0 || over {
				t.Errorf("%s: room %d, over %v under way", name, room, over)
			}
			if _, ended, err := w.Receive([]byte(test.answer), 5, nil, nil); err != nil || len(ended) != 1 || ended[0] != &x ||
				x.Done != 5 || x.FirstByte != 5 {
				t.Errorf("%s: ended %v (%v)", name, ended, err)
			}
			if room, over := w.State(); over == test.keep || room == 1 != test.keep {
				t.Errorf("%s: room %d, over %v afterwards", name, room, over)
			}
		}
	}
}

// TestUnaskedBytes: a server that says 408 before it closes an idle connection
// fails no request.
func TestUnaskedBytes(t *testing.T) {
	p := protocol(t, get("http://h.test"))
	for name, happens := range map[string]func(w load.Wire) ([]*load.Exchange, error){
		"an answer": func(w load.Wire) ([]*load.Exchange, error) {
			_, ended, err := w.Receive([]byte("HTTP/1.1 408 Request Timeout\r\n\r\n"), 1, nil, nil)
			return ended, err
		},
		"the end": func(w load.Wire) ([]*load.Exchange, error) { return w.Shut(1, nil) },
	} {
		w := p.Wire(0)
		w.Open(nil)
		ended, err := happens(w)
		if room, over := w.State(); room != 0 || !over || len(ended) != 0 || err != nil {
			t.Errorf("%s: room %d, over %v, ended %v (%v)", name, room, over, ended, err)
		}
	}
}

func TestCancel(t *testing.T) {
	p := protocol(t, get("http://h.test"))
	w := p.Wire(0)
	var x, other load.Exchange
	if _, err := w.Send(&x, w.Open(nil)); err != nil {
		t.Fatal(err)
	}
	if out, keep := w.Cancel(&other, nil); !keep || len(out) > 0 {
		t.Error("an exchange that is not under way cost the connection")
	}
	if out, keep := w.Cancel(&x, nil); keep || len(out) > 0 {
		t.Errorf("kept %v, appended %q", keep, out)
	}
	if _, ended, err := w.Receive([]byte(ok), 1, nil, nil); len(ended) > 0 || err != nil {
		t.Errorf("ended %v (%v)", ended, err)
	}
}

func TestStatus(t *testing.T) {
	for _, test := range []struct {
		status, expect int
		want           string
	}{
		{200, 0, ""}, {204, 0, ""}, {399, 0, ""}, {404, 404, ""},
		{400, 0, "status: status 400"}, {999, 0, "status: status 999"}, {404, 0, "status: status 404"},
		{201, 200, "status: status 201 where 200 is expected"},
	} {
		p := get("http://h.test")
		p.Requests[0].Expect = test.expect
		var x load.Exchange
		ask(t, protocol(t, p), 0, &x, fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n", test.status))
		got := ""
		if x.Err != nil {
			got = x.Err.Error()
		}
		if got != test.want || x.Status != test.status || failure.Of(x.Err) != "" && failure.Of(x.Err) != failure.Status {
			t.Errorf("%d where %d is expected: %q, status %d", test.status, test.expect, got, x.Status)
		}
	}
}

func TestChecks(t *testing.T) {
	is := "2"
	p := get("http://h.test/{{u}}")
	p.Data = map[string]*feeder.Table{"u": {Columns: []string{"id"}, Rows: [][]string{{"1"}, {"2"}}}}
	p.Requests[0].Checks = []scenario.Check{
		{Name: "a", Status: []int{200}},
		{Name: "b", Header: "x-kind", Contains: "blue"},
		{Name: "c", Body: true, Contains: `"id"`},
		{Name: "d", JSON: "$.id", Equals: &is},
	}
	for name, test := range map[string]struct {
		answer string
		shut   bool
		want   loadtest.Want
	}{
		"all hold": {answer: "HTTP/1.1 200 OK\r\nX-Kind:  dark blue \r\nContent-Length: 8\r\n\r\n{\"id\":2}"},
		"in chunks": {answer: "HTTP/1.1 103 Early Hints\r\nX-Kind: red\r\n\r\nHTTP/1.1 200 OK\r\nX-Kind: blue\r\n" +
			"Transfer-Encoding: chunked\r\n\r\n4\r\n{\"id\r\n4\r\n\":2}\r\n0\r\nX-Kind: red\r\n\r\n"},
		"until the end": {answer: "HTTP/1.1 200 OK\r\nX-Kind: blue\r\n\r\n{\"id\":2}", shut: true},
		"none holds": {answer: "HTTP/1.1 500 Oops\r\nX-Kind: red\r\nContent-Length: 2\r\n\r\n{}",
			want: loadtest.Want{Kind: failure.Status, Failed: 0b1111}},
		"some hold": {answer: "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"id\":3}", want: loadtest.Want{Failed: 0b1010}},
		"hints are not the answer": {answer: "HTTP/1.1 103 Early Hints\r\nX-Kind: blue\r\n\r\nHTTP/1.1 200 OK\r\n" +
			"Content-Length: 8\r\n\r\n{\"id\":2}", want: loadtest.Want{Failed: 0b0010}},
	} {
		t.Run(name, func(t *testing.T) {
			if test.want.Status = 200; test.want.Kind != "" {
				test.want.Status = 500
			}
			loadtest.Wire(t, loadtest.Subject{Protocol: protocol(t, p), Plan: p, Target: saying(test.answer, test.shut),
				Exchanges: []loadtest.Want{test.want, test.want}})
		})
	}
}

// TestAllocations: nothing is allocated per request, whatever its answer.
func TestAllocations(t *testing.T) {
	p := get("http://h.test/x")
	p.Data = map[string]*feeder.Table{"u": {Columns: []string{"id"}, Rows: [][]string{{"1"}, {"2"}}}}
	p.Requests = append(p.Requests,
		scenario.Request{Method: "POST", URL: "http://h.test/{{u}}", Body: "row {{u}}"},
		scenario.Request{URL: "http://h.test/{{u}}", Follow: true,
			Checks: []scenario.Check{{Status: []int{201}}, {Header: "Date"}, {Body: true, Contains: "ok"}}})
	made := protocol(t, p)
	answers := []string{nginx, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"}
	for request := range p.Requests {
		for _, answer := range answers {
			for _, pieces := range []int{1, 2} { // in two pieces, a line is cut
				w := made.Wire(0)
				x := load.Exchange{Request: request, Data: p.NewCursor(1)}
				in := []byte(answer)
				var ended []*load.Exchange
				out := w.Open(nil)
				n := testing.AllocsPerRun(200, func() {
					out, _ = w.Send(&x, out[:0])
					if pieces == 2 {
						out, ended, _ = w.Receive(in[:20], 1, out, ended[:0])
					}
					out, ended, _ = w.Receive(in[(pieces-1)*20:], 1, out, ended[:0])
				})
				if loadtest.Race {
					n = 0 // sync.Pool forgets at random then
				}
				if n != 0 || len(ended) != 1 {
					t.Errorf("request %d, %.20q in %d pieces: %v allocations, %d ended", request, answer, pieces, n, len(ended))
				}
			}
		}
	}
}

// TestSize: fifteen thousand idle connections must take at most 3 KiB each, with
// what the loop and the kernel keep for them.
func TestSize(t *testing.T) {
	if size := unsafe.Sizeof(wire{}); size > 128 {
		t.Errorf("a wire takes %d bytes", size)
	}
}

func TestHosts(t *testing.T) {
	p := &scenario.Plan{Requests: []scenario.Request{
		{URL: "http://h.test/a"}, {URL: "http://H.test:80/b"}, {URL: "https://h.test/c"}, {URL: "http://h.test:81/"}}}
	made := protocol(t, p)
	var addresses []string
	for _, h := range made.Hosts() {
		addresses = append(addresses, h.Address)
		if h.TLS != nil && !slices.Equal(h.TLS.NextProtos, []string{"http/1.1"}) {
			t.Errorf("speaks %v", h.TLS.NextProtos)
		}
	}
	if !slices.Equal(addresses, []string{"h.test:80", "h.test:443", "h.test:81"}) || made.Hosts()[1].TLS == nil ||
		made.Hosts()[0].TLS != nil {
		t.Errorf("hosts %v", addresses)
	}
	for request, want := range []int{0, 0, 1, 2} {
		if got := made.Host(request); got != want {
			t.Errorf("request %d goes to host %d, want %d", request, got, want)
		}
	}
}
