package tcp_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/load/tcp"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// message is a plan of one kind of message, modified by the test.
func message(body string, change ...func(*scenario.Request)) *scenario.Plan {
	p := &scenario.Plan{Requests: []scenario.Request{{Name: "echo", URL: "tcp://127.0.0.1:7", Body: feeder.Template(body)}}}
	for _, f := range change {
		f(&p.Requests[0])
	}
	return p
}

func newProtocol(t testing.TB, p *scenario.Plan) *tcp.Protocol {
	t.Helper()
	made, err := tcp.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// echo is a target that sends back what it receives.
func echo() func([]byte) ([]byte, bool) {
	return func(sent []byte) ([]byte, bool) { return sent, false }
}

// saying is a target that answers anything with the same bytes.
func saying(answer string, shut bool) func() func([]byte) ([]byte, bool) {
	return func() func([]byte) ([]byte, bool) {
		return func([]byte) ([]byte, bool) { return []byte(answer), shut }
	}
}

func TestWire(t *testing.T) {
	rows := message("id={{user.id}};{{user.text}}")
	rows.Data = map[string]*feeder.Table{"user": {
		Columns: []string{"id", "text"},
		Rows:    [][]string{{"1", "short"}, {"22", strings.Repeat("long ", 300)}, {"333", ""}},
	}}
	mixed := message("ping")
	mixed.Requests = append(mixed.Requests, scenario.Request{Name: "tell", URL: "tcp://127.0.0.1:7", Body: "news", NoReply: true})
	for name, s := range map[string]loadtest.Subject{
		"echo":              {Protocol: newProtocol(t, message("hello")), Target: echo, Exchanges: make([]loadtest.Want, 5)},
		"echo of rows":      {Protocol: newProtocol(t, rows), Plan: rows, Target: echo, Exchanges: make([]loadtest.Want, 5)},
		"without a reply":   {Protocol: newProtocol(t, mixed), Target: saying("", false), Exchanges: []loadtest.Want{{Request: 1}, {Request: 1}}},
		"another's bytes":   {Protocol: newProtocol(t, message("hello")), Target: saying("help!", false), Exchanges: []loadtest.Want{{Kind: failure.BadResponse}, {Kind: failure.BadResponse}}},
		"closed early":      {Protocol: newProtocol(t, message("hello")), Target: saying("", true), Exchanges: []loadtest.Want{{Kind: failure.EOF}, {Kind: failure.EOF}}},
		"closed within":     {Protocol: newProtocol(t, message("hello")), Target: saying("hel", true), Exchanges: []loadtest.Want{{Kind: failure.ShortBody}}},
		"closed after each": {Protocol: newProtocol(t, message("hello")), Target: saying("hello", true), Exchanges: make([]loadtest.Want, 3)},
	} {
		t.Run(name, func(t *testing.T) { loadtest.Wire(t, s) })
	}
}

func TestMoreThanTheEchoEndsTheConnection(t *testing.T) {
	w := newProtocol(t, message("hello")).Wire(0)
	w.Open(nil)
	x := &load.Exchange{}
	if _, err := w.Send(x, nil); err != nil {
		t.Fatal(err)
	}
	_, ended, err := w.Receive([]byte("hello?"), 7, nil, nil)
	if _, over := w.State(); err != nil || len(ended) != 1 || x.Err != nil || x.Done != 7 || !over {
		t.Errorf("ended %v, error %v, over %v", ended, err, over)
	}
}

func TestAnswersToMessagesWithoutReplyAreDropped(t *testing.T) {
	w := newProtocol(t, message("news", func(q *scenario.Request) { q.NoReply = true })).Wire(0)
	w.Open(nil)
	x := &load.Exchange{}
	out, err := w.Send(x, nil)
	if err != nil || string(out) != "news" {
		t.Fatalf("out %q, error %v", out, err)
	}
	if _, ended, err := w.Receive([]byte("thanks"), 1, nil, nil); len(ended) != 0 || err != nil {
		t.Errorf("it ended (%v) before it was sent, or failed: %v", ended, err)
	}
	if ended := w.(load.Drainer).Drained(2, nil); len(ended) != 1 || x.Done != 2 {
		t.Errorf("ended %v at %v", ended, x.Done)
	}
	if room, over := w.State(); room != 1 || over {
		t.Errorf("room %d, over %v", room, over)
	}
}

// TestEchoesOfMessagesWithoutReply has targets that echo them, as an echo server does, and others
// that do not. However their bytes are cut, the awaited echo is found.
func TestEchoesOfMessagesWithoutReply(t *testing.T) {
	for name, test := range map[string]struct {
		notify, answer string
		want           failure.Kind
	}{
		"echoes all":          {"news", "newsnewsping", ""},
		"echoes all alike":    {"ping", "pingpingping", ""},
		"echoes one":          {"news", "ping", ""},
		"begins alike":        {"pinboard", "ping", ""},
		"holds the other":     {"pi", "ping", ""},
		"and then differs":    {"news", "newsnewspint", failure.BadResponse},
		"differs":             {"news", "newspint", failure.BadResponse},
		"one of two is lost":  {"news", "newsping", failure.BadResponse},
		"is something else":   {"news", "help", failure.BadResponse},
		"begins like it only": {"pinboard", "pinx", failure.BadResponse},
	} {
		p := message("ping")
		notify := scenario.Request{Name: "notify", URL: p.Requests[0].URL, Body: feeder.Template(test.notify), NoReply: true}
		p.Requests = append(p.Requests, notify)
		made := newProtocol(t, p)
		for at := range len(test.answer) {
			w := made.Wire(0)
			w.Open(nil)
			for range 2 { // what the first leaves must not be in the second's way
				for range 2 {
					if _, err := w.Send(&load.Exchange{Request: 1}, nil); err != nil {
						t.Fatal(err)
					}
					w.(load.Drainer).Drained(1, nil)
				}
				x := &load.Exchange{}
				if _, err := w.Send(x, nil); err != nil {
					t.Fatal(err)
				}
				_, ended, err := w.Receive([]byte(test.answer[:at]), 2, nil, nil)
				if err == nil {
					_, ended, err = w.Receive([]byte(test.answer[at:]), 3, nil, ended)
				}
				complete := len(ended) == 1 && x.BytesIn == 4 && x.FirstByte >= 2 && x.Done == 3
				if got := failure.Of(err); got != test.want || err == nil && !complete {
					t.Errorf("%s, cut at %d: ended %v, error %v, %+v", name, at, ended, err, x)
				}
				if err != nil {
					break
				}
			}
		}
	}
}

func TestEmptyMessageIsABadRequest(t *testing.T) {
	p := message("{{words}}")
	p.Data = map[string]*feeder.Table{"words": {Columns: []string{"word"}, Rows: [][]string{{""}}}}
	w := newProtocol(t, p).Wire(0)
	w.Open(nil)
	out, err := w.Send(&load.Exchange{Data: p.NewCursor(1)}, []byte("x"))
	if room, _ := w.State(); failure.Of(err) != failure.BadRequest || string(out) != "x" || room != 1 {
		t.Errorf("out %q, error %v, room %d", out, err, room)
	}
}

func TestPlansThatAreNotMessages(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*scenario.Request)
		want   string
	}{
		"no body":    {func(q *scenario.Request) { q.Body = "" }, "no body"},
		"no port":    {func(q *scenario.Request) { q.URL = "tcp://127.0.0.1" }, "port"},
		"path":       {func(q *scenario.Request) { q.URL += "/echo" }, "paths"},
		"other":      {func(q *scenario.Request) { q.URL = "http://127.0.0.1:7" }, "tcp://"},
		"headers":    {func(q *scenario.Request) { q.Headers = map[string]scenario.Secret{"A": "b"} }, "headers"},
		"expect":     {func(q *scenario.Request) { q.Expect = 200 }, "status"},
		"checks":     {func(q *scenario.Request) { q.Checks = []scenario.Check{{Name: "c", Body: true, Contains: "x"}} }, "compared"},
		"unknown":    {func(q *scenario.Request) { q.Body = "{{nobody}}" }, "no feeder"},
		"streams":    {func(*scenario.Request) {}, "one message at a time"},
		"no request": {nil, "no request"},
	} {
		p := &scenario.Plan{}
		if test.change != nil {
			p = message("x", test.change)
		}
		if name == "streams" {
			p.Load.Streams = 2
		}
		if _, err := tcp.New(p); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, test.want)
		}
	}
}

func TestHostsAreThoseOfThePlan(t *testing.T) {
	p := message("x")
	for _, url := range []string{"tcp://127.0.0.1:8", "tcp://127.0.0.1:7/"} {
		p.Requests = append(p.Requests, scenario.Request{URL: feeder.Template(url), Body: "x"})
	}
	made := newProtocol(t, p)
	hosts := made.Hosts()
	if len(hosts) != 2 || hosts[1] != (load.Host{Address: "127.0.0.1:8"}) || made.Host(0) != 0 || made.Host(1) != 1 || made.Host(2) != 0 {
		t.Errorf("hosts %v of requests %d, %d, %d", hosts, made.Host(0), made.Host(1), made.Host(2))
	}
}

func FuzzReceive(f *testing.F) {
	s := loadtest.Subject{Protocol: newProtocol(f, message("hello")), Exchanges: make([]loadtest.Want, 1)}
	f.Add([]byte("\x02hello"))
	f.Add(bytes.Repeat([]byte("hello"), 3))
	f.Fuzz(func(t *testing.T, in []byte) { loadtest.Survive(t, s, in) })
}

// BenchmarkEcho is one message and its echo, without a socket.
func BenchmarkEcho(b *testing.B) {
	w := newProtocol(b, message(strings.Repeat("x", 128))).Wire(0)
	out := w.Open(nil)
	var ended []*load.Exchange
	x := &load.Exchange{}
	b.ReportAllocs()
	for b.Loop() {
		*x = load.Exchange{}
		out, _ = w.Send(x, out[:0])
		_, ended, _ = w.Receive(out, 1, nil, ended[:0])
	}
	if len(ended) != 1 {
		b.Fatal("the echo did not end")
	}
}
