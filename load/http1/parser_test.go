package http1

import (
	"bufio"
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
)

// found is a parser's result for an answer, in whatever pieces that arrives.
type found struct {
	status   int
	used     int // bytes that belong to the answer
	complete bool
	keep     bool
	kind     failure.Kind
}

// parse feeds text in pieces of the given sizes (repeated; nil is all at once)
// and then ends the connection if the answer is not complete.
func parse(text string, isHead bool, sizes []byte) found {
	var p parser
	p.reset(isHead)
	var f found
	for rest, i := text, 0; rest != "" && p.state != complete; i++ {
		n := len(rest)
		if len(sizes) > 0 {
			n = min(n, int(sizes[i%len(sizes)])+1)
		}
		used, err := p.feed([]byte(rest[:n]))
		f.used += used
		if err != nil {
			return found{kind: failure.Of(err)}
		}
		rest = rest[n:]
	}
	f.kind = failure.Of(p.end())
	f.status, f.complete = int(p.status), p.state == complete
	if f.complete {
		f.keep = p.keep
	}
	return f
}

var answers = []struct {
	name string
	text string
	head bool
	want found
}{
	{name: "length", text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", want: found{status: 200, complete: true, keep: true}},
	{name: "length zero", text: "HTTP/1.1 200 OK\r\ncontent-length:0\r\n\r\n", want: found{status: 200, complete: true, keep: true}},
	{name: "no reason", text: "HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n", want: found{status: 404, complete: true, keep: true}},
	{name: "bare line feeds", text: "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", want: found{status: 200, complete: true, keep: true}},
	{name: "close", text: "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok", want: found{status: 200, complete: true}},
	{name: "close in a list", text: "HTTP/1.1 200 OK\r\nConnection: foo, close\r\nContent-Length: 2\r\n\r\nok", want: found{status: 200, complete: true}},
	{name: "close, then keep-alive", text: "HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", want: found{status: 200, complete: true}},
	{name: "http 1.0, close, then keep-alive", text: "HTTP/1.0 200 OK\r\nConnection: close\r\nConnection: foo, Keep-Alive\r\nContent-Length: 2\r\n\r\nok", want: found{status: 200, complete: true}},
	{name: "http 1.0, keep-alive, then close", text: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", want: found{status: 200, complete: true}},
	{name: "http 1.0", text: "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", want: found{status: 200, complete: true}},
	{name: "http 1.0 kept", text: "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", want: found{status: 200, complete: true, keep: true}},
	{name: "until close", text: "HTTP/1.1 200 OK\r\n\r\nwhatever comes", want: found{status: 200, complete: true}},
	{name: "chunked", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n", want: found{status: 200, complete: true, keep: true}},
	{name: "trailers", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n1\r\nx\r\n000\r\nA: b\r\nC: d\r\n\r\n", want: found{status: 200, complete: true, keep: true}},
	{name: "chunked and length", text: "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", want: found{status: 200, complete: true}},
	{name: "unknown coding", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nrest", want: found{status: 200, complete: true}},
	{name: "head", head: true, text: "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", want: found{status: 200, complete: true, keep: true}},
	{name: "204", text: "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", want: found{status: 204, complete: true, keep: true}},
	{name: "304", text: "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", want: found{status: 304, complete: true, keep: true}},
	{name: "interim", text: "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", want: found{status: 200, complete: true, keep: true}},
	{name: "switch", text: "HTTP/1.1 101 Switching Protocols\r\n\r\n", want: found{status: 101, complete: true}},
	{name: "same length twice", text: "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length: 2\r\n\r\nok", want: found{status: 200, complete: true, keep: true}},

	{name: "nothing", text: "", want: found{kind: failure.EOF}},
	{name: "cut head", text: "HTTP/1.1 200 OK\r\nContent-Le", want: found{status: 200, kind: failure.EOF}},
	{name: "cut after interim", text: "HTTP/1.1 100 Continue\r\n\r\n", want: found{status: 100, kind: failure.EOF}},
	{name: "cut body", text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", want: found{status: 200, kind: failure.ShortBody}},
	{name: "cut chunk", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", want: found{status: 200, kind: failure.ShortBody}},
	{name: "cut before trailers", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", want: found{status: 200, kind: failure.ShortBody}},
	{name: "garbage", text: "\x00\x01\x02 what is this\n", want: found{kind: failure.BadResponse}},
	{name: "http 2", text: "HTTP/2 200 OK\r\n\r\n", want: found{kind: failure.BadResponse}},
	{name: "status of four digits", text: "HTTP/1.1 2000 OK\r\n\r\n", want: found{kind: failure.BadResponse}},
	{name: "status 0", text: "HTTP/1.1 000 OK\r\n\r\n", want: found{kind: failure.BadResponse}},
	{name: "two lengths", text: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n", want: found{kind: failure.BadResponse}},
	{name: "negative length", text: "HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n", want: found{kind: failure.BadResponse}},
	{name: "length over int64", text: "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n", want: found{kind: failure.BadResponse}},
	{name: "empty length", text: "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", want: found{kind: failure.BadResponse}},
	{name: "no colon", text: "HTTP/1.1 200 OK\r\nnonsense\r\n\r\n", want: found{kind: failure.BadResponse}},
	{name: "folded", text: "HTTP/1.1 200 OK\r\nA: b\r\n c: d\r\n\r\n", want: found{kind: failure.BadResponse}},
	{name: "blank before colon", text: "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok", want: found{kind: failure.BadResponse}},
	{name: "chunk size missing", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", want: found{kind: failure.BadResponse}},
	{name: "chunk size over int64", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n", want: found{kind: failure.BadResponse}},
	{name: "chunk longer than its size", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", want: found{kind: failure.BadResponse}},
	{name: "endless chunk size line", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", maxChunkLine), want: found{kind: failure.BadResponse}},
	{name: "endless head", text: "HTTP/1.1 200 OK\r\n" + strings.Repeat("A: b\r\n", maxHead/6), want: found{kind: failure.HeaderTooLarge}},
	{name: "endless line", text: "HTTP/1.1 200 OK\r\nA: " + strings.Repeat("b", maxHead), want: found{kind: failure.HeaderTooLarge}},
	{name: "endless status line", text: "HTTP/1.1 200 " + strings.Repeat("O", maxHead), want: found{kind: failure.HeaderTooLarge}},
	{name: "endless interims", text: strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", maxHead/25+1), want: found{kind: failure.HeaderTooLarge}},
	{name: "endless trailers", text: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("A: b\r\n", maxHead/6+1), want: found{kind: failure.HeaderTooLarge}},
}

func TestParser(t *testing.T) {
	for _, a := range answers {
		want := a.want
		if want.complete {
			want.used = len(a.text)
		}
		for name, sizes := range map[string][]byte{"whole": nil, "bytes": {0}, "pieces": {2, 0, 16}} {
			got := parse(a.text, a.head, sizes)
			if !want.complete {
				got.used = 0
			}
			if got != want {
				t.Errorf("%s, %s: got %+v, want %+v", a.name, name, got, want)
			}
		}
	}
}

func TestParserLeavesWhatFollows(t *testing.T) {
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	if got := parse(answer+"HTTP/1.1 200 OK\r\n", false, nil); !got.complete || got.used != len(answer) {
		t.Errorf("got %+v, the answer has %d bytes", got, len(answer))
	}
}

// FuzzParser checks that pieces make no difference, and that the bytes which the parser
// holds back are bounded.
func FuzzParser(f *testing.F) {
	for _, a := range answers {
		if len(a.text) < 1<<10 {
			f.Add(a.text, a.head, []byte{0})
			f.Add(a.text+"HTTP/1.1 200 OK\r\n", a.head, []byte{3, 0, 7})
		}
	}
	f.Fuzz(func(t *testing.T, text string, head bool, sizes []byte) {
		if len(text) > 1<<17 || len(sizes) > 64 {
			t.Skip("bounded: longer inputs show nothing new")
		}
		whole, pieces := parse(text, head, nil), parse(text, head, sizes)
		if whole != pieces {
			t.Errorf("in one piece %+v, in pieces of %v %+v", whole, sizes, pieces)
		}
		if whole.used > len(text) {
			t.Errorf("used %d of %d bytes", whole.used, len(text))
		}
	})
}

func BenchmarkParser(b *testing.B) {
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\nDate: Thu, 01 Jan 2026 " +
		"00:00:00 GMT\r\nContent-Length: 500\r\n\r\n" + strings.Repeat("x", 500))
	var p parser
	b.ReportAllocs()
	for b.Loop() {
		p.reset(false)
		if _, err := p.feed(answer); err != nil || p.state != complete {
			b.Fatal(err, p.state)
		}
	}
}

// heard is the result of an exchange.
type heard struct {
	ended, over      bool
	kind             failure.Kind
	status           int
	failed           uint64
	redirect, origin string
	bytesIn          int64
}

// hear gives in, in pieces, to a wire that has sent a request, and then ends the
// connection.
func hear(t *testing.T, p *Protocol, in []byte, piece int) (h heard) {
	w, x := p.Wire(0), &load.Exchange{}
	if _, err := w.Send(x, w.Open(nil)); err != nil {
		t.Fatal(err)
	}
	var ended []*load.Exchange
	var err error
	for len(in) > 0 && err == nil {
		n := min(piece, len(in))
		_, ended, err = w.Receive(bytes.Clone(in[:n]), 1, nil, ended)
		in = in[n:]
	}
	_, h.over = w.State()
	if err == nil {
		ended, err = w.Shut(1, ended)
	}
	if h.ended = len(ended) == 1; h.ended {
		err = x.Err
		h.bytesIn = x.BytesIn // for a bad answer it depends on the pieces
	}
	h.kind, h.status, h.failed = failure.Of(err), x.Status, x.Failed
	h.redirect, h.origin = string(x.Redirect), string(x.Hop.Origin)
	return h
}

// FuzzWire gives arbitrary bytes to a wire that has sent a request with checks and
// follows redirects.
func FuzzWire(f *testing.F) {
	for _, a := range answers {
		if len(a.text) < 1<<10 {
			f.Add([]byte("\xff" + a.text))
			f.Add([]byte("\x02" + a.text + "HTTP/1.1 200 OK\r\n"))
		}
	}
	f.Add([]byte("\x05" + away(302, "http://h.test/?a=b c")))
	p := get("http://h.test/")
	p.Requests[0].Follow = true
	p.Requests[0].Checks = []scenario.Check{{Header: "a"}, {Body: true, Contains: "x"}, {JSON: "$.a"}}
	made := protocol(f, p)
	f.Fuzz(func(t *testing.T, in []byte) {
		loadtest.Survive(t, loadtest.Subject{Protocol: made, Exchanges: []loadtest.Want{{}}}, in)
		if len(in) == 0 {
			return
		}
		piece := int(in[0]) + 1
		in = in[1:]
		if whole, pieces := hear(t, made, in, len(in)), hear(t, made, in, piece); whole != pieces {
			t.Errorf("in one piece %+v, in pieces of %d %+v", whole, piece, pieces)
		}
		// And a redirect, wherever it leads, is sent as one request.
		w, x := made.Wire(0), &load.Exchange{}
		if _, err := w.Send(x, w.Open(nil)); err != nil {
			t.Fatal(err)
		}
		if _, ended, _ := w.Receive(in, 1, nil, nil); len(ended) == 0 || len(x.Redirect) == 0 {
			return
		}
		host, err := made.Follow(x)
		if err != nil {
			return
		}
		w = made.Wire(host)
		out, err := w.Send(x, w.Open(nil))
		if err != nil {
			t.Fatal(err)
		}
		q, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(out)))
		if err != nil || q.Host != "h.test" || q.Method != "GET" || bytes.Count(out, []byte("\r\n")) != 4 {
			t.Errorf("%q is redirected to %q (%v)", in, out, err)
		}
	})
}
