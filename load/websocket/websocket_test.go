package websocket_test

import (
	"bytes"
	"crypto/sha1"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/load/websocket"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// message is a plan of one kind of message, modified by the test.
func message(body string, change ...func(*scenario.Request)) *scenario.Plan {
	p := &scenario.Plan{Requests: []scenario.Request{{Name: "say", URL: "ws://127.0.0.1:9/chat", Body: feeder.Template(body)}}}
	for _, f := range change {
		f(&p.Requests[0])
	}
	return p
}

func header(name, value string) func(*scenario.Request) {
	return func(q *scenario.Request) { q.Headers = map[string]scenario.Secret{name: scenario.Secret(value)} }
}

func newProtocol(t testing.TB, p *scenario.Plan) *websocket.Protocol {
	t.Helper()
	made, err := websocket.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// frame is a frame of a server, as RFC 6455, section 5.2 draws it.
func frame(first byte, payload string) string {
	switch n := len(payload); {
	case n < 126:
		return string([]byte{first, byte(n)}) + payload
	case n <= 0xffff:
		return string([]byte{first, 126, byte(n >> 8), byte(n)}) + payload
	default:
		return string(binary.BigEndian.AppendUint64([]byte{first, 127}, uint64(n))) + payload
	}
}

// First bytes of frames.
const (
	text, binaryFrame, part, next, last = 0x81, 0x82, 0x01, 0x00, 0x80
	closing, ping, pong                 = 0x88, 0x89, 0x8a
)

// target is a server without a socket. upgrade answers the upgrade, and say a
// message; nil upgrades correctly and echoes.
type target struct {
	t       testing.TB
	upgrade func(request string) string
	say     func(opcode byte, message string) string
	shut    bool // after the upgrade, or after each message when it is upgraded

	got      []byte
	upgraded bool
	requests []string
	messages []string // the first byte and the payload of each frame
}

func (s *target) make() func([]byte) ([]byte, bool) {
	one := *s
	return one.answer
}

func (s *target) answer(sent []byte) (answer []byte, shut bool) {
	s.got = append(s.got, sent...)
	if !s.upgraded {
		head, rest, ok := bytes.Cut(s.got, []byte("\r\n\r\n"))
		if !ok {
			return nil, false
		}
		s.got, s.upgraded = bytes.Clone(rest), true
		s.requests = append(s.requests, string(head))
		if s.upgrade == nil {
			answer = []byte(switching(string(head), ""))
		} else {
			answer, shut = []byte(s.upgrade(string(head))), s.shut
		}
	}
	for {
		first, payload, ok := s.unmask()
		if !ok {
			return answer, shut
		}
		s.messages = append(s.messages, string([]byte{first})+payload)
		switch {
		case first == pong || first == closing:
		case s.say == nil:
			answer, shut = append(answer, frame(first, payload)...), s.shut
		default:
			answer, shut = append(answer, s.say(first, payload)...), s.shut
		}
	}
}

// unmask takes one frame of the client.
func (s *target) unmask() (first byte, payload string, ok bool) {
	b := s.got
	if len(b) < 2 {
		return 0, "", false
	}
	if b[1]&0x80 == 0 {
		s.t.Fatal("a frame of the client is not masked")
	}
	head, size := 2, int(b[1]&0x7f)
	switch size {
	case 126:
		head, size = 4, int(binary.BigEndian.Uint16(b[2:]))
	case 127:
		head, size = 10, int(binary.BigEndian.Uint64(b[2:]))
	}
	if len(b) < head+4+size {
		return 0, "", false
	}
	key, body := b[head:head+4], bytes.Clone(b[head+4:head+4+size])
	for i := range body {
		body[i] ^= key[i%4]
	}
	s.got = b[head+4+size:]
	return b[0], string(body), true
}

// switching answers an upgrade correctly.
func switching(request, more string) string {
	_, key, _ := strings.Cut(request, "Sec-WebSocket-Key: ")
	key, _, _ = strings.Cut(key, "\r\n")
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Accept: " +
		base64.StdEncoding.EncodeToString(sum[:]) + "\r\n" + more + "\r\n"
}

func TestWire(t *testing.T) {
	rows := message("{{user.text}}", header("Authorization", "Bearer {{user.token}}"))
	rows.Data = map[string]*feeder.Table{"user": {Columns: []string{"token", "text"}, Rows: [][]string{
		{"t1", "short"}, {"t2", strings.Repeat("long ", 100)}, {"t3", ""}, {"t4", strings.Repeat("x", 300)}, {"t5", "\xff\xfe"}}}}
	describe := message("ping")
	describe.Requests = append(describe.Requests, scenario.Request{Name: "tell", URL: describe.Requests[0].URL,
		Body: "news", NoReply: true})
	say := func(answer string) func(byte, string) string {
		return func(byte, string) string { return answer }
	}
	checked := message("x", func(q *scenario.Request) {
		yes := "yes"
		q.Checks = []scenario.Check{{Name: "a", Body: true, Contains: "no"}, {Name: "b", JSON: "$.ok", Equals: &yes}}
	})
	ok, broken := make([]loadtest.Want, 3), []loadtest.Want{{Kind: failure.BadResponse}, {Kind: failure.BadResponse}}
	for name, test := range map[string]struct {
		plan   *scenario.Plan
		target target
		want   []loadtest.Want
	}{
		"echo":               {plan: message("hello"), want: ok},
		"empty":              {plan: message(""), want: ok},
		"16 bit length":      {plan: message(strings.Repeat("0123456789", 30)), want: ok},
		"64 bit length":      {plan: message(strings.Repeat("0123456789", 7000)), want: ok[:1]},
		"rows":               {plan: rows, want: make([]loadtest.Want, 5)},
		"without a reply":    {plan: describe, target: target{say: say("")}, want: []loadtest.Want{{Request: 1}, {Request: 1}}},
		"fragments":          {plan: message("x"), target: target{say: say(frame(part, "a") + frame(ping, "p") + frame(next, "") + frame(last, "b"))}, want: ok},
		"checks":             {plan: checked, target: target{say: say(frame(part, `{"ok":`) + frame(ping, "") + frame(last, `"yes"}`))}, want: []loadtest.Want{{Failed: 1}, {Failed: 1}}},
		"checks of a broken": {plan: checked, target: target{say: say("\x81\x05no"), shut: true}, want: []loadtest.Want{{Kind: failure.ShortBody}, {Kind: failure.ShortBody}}},
		"pings before":       {plan: message("x"), target: target{say: say(frame(ping, strings.Repeat("p", 125)) + frame(ping, "") + frame(text, "a"))}, want: ok},
		"pushed after":       {plan: message("x"), target: target{say: say(frame(text, "a") + frame(text, "pushed") + frame(pong, "") + frame(part, "more") + frame(last, ""))}, want: ok},
		"pushed at once":     {plan: message("x"), target: target{upgrade: func(r string) string { return switching(r, "") + frame(text, "welcome") }}, want: ok},
		"interim":            {plan: message("x"), target: target{upgrade: func(r string) string { return "HTTP/1.1 103 Early Hints\r\n\r\n" + switching(r, "") }}, want: ok},
		"closes, no code":    {plan: message("x"), target: target{say: say(frame(closing, ""))}, want: []loadtest.Want{{Kind: failure.EOF}, {Kind: failure.EOF}}},
		"closes within":      {plan: message("x"), target: target{say: say(frame(part, "a") + frame(closing, "\x03\xf3oops"))}, want: []loadtest.Want{{Kind: failure.ShortBody}}},
		"closes after each":  {plan: message("x"), target: target{say: say(frame(text, "a") + frame(closing, "\x03\xe8"))}, want: ok},
		"shuts after each":   {plan: message("x"), target: target{say: say(frame(text, "a")), shut: true}, want: ok},
		"shuts":              {plan: message("x"), target: target{say: say(""), shut: true}, want: []loadtest.Want{{Kind: failure.EOF}}},
		"shuts within":       {plan: message("x"), target: target{say: say("\x81\x05ab"), shut: true}, want: []loadtest.Want{{Kind: failure.ShortBody}}},
		"masked":             {plan: message("x"), target: target{say: say("\x81\x81\x00\x00\x00\x00a")}, want: broken},
		"reserved bit":       {plan: message("x"), target: target{say: say(frame(text|0x40, "a"))}, want: broken},
		"reserved opcode":    {plan: message("x"), target: target{say: say(frame(0x83, "a"))}, want: broken},
		"reserved control":   {plan: message("x"), target: target{say: say(frame(0x8b, ""))}, want: broken},
		"long control":       {plan: message("x"), target: target{say: say(frame(ping, strings.Repeat("p", 126)))}, want: broken},
		"fragmented control": {plan: message("x"), target: target{say: say(frame(0x09, ""))}, want: broken},
		"nothing continued":  {plan: message("x"), target: target{say: say(frame(last, "a"))}, want: broken},
		"message within":     {plan: message("x"), target: target{say: say(frame(part, "a") + frame(text, "b"))}, want: broken},
		"length too wide":    {plan: message("x"), target: target{say: say("\x81\x7e\x00\x01a")}, want: broken},
		"length far wider":   {plan: message("x"), target: target{say: say("\x81\x7f\x00\x00\x00\x00\x00\x00\xff\xffa")}, want: broken},
		"length negative":    {plan: message("x"), target: target{say: say("\x81\x7f\xff\x00\x00\x00\x00\x00\xff\xffa")}, want: broken},
		"close code cut":     {plan: message("x"), target: target{say: say(frame(closing, "\x03"))}, want: broken},
		"close code unsent":  {plan: message("x"), target: target{say: say(frame(closing, "\x03\xed"))}, want: broken},
		"close reason":       {plan: message("x"), target: target{say: say(frame(closing, "\x03\xe8\xff"))}, want: broken},
		"garbage":            {plan: message("x"), target: target{upgrade: say2("\x16\x03\x01 this is TLS\n")}, want: broken},
		"garbage after HTTP": {plan: message("x"), target: target{upgrade: say2("HTTP/1.1 what?\r\n\r\n")}, want: broken},
		"shuts the upgrade":  {plan: message("x"), target: target{upgrade: say2("HTTP/1.1 101 Swi"), shut: true}, want: []loadtest.Want{{Kind: failure.EOF}}},
		"no upgrade":         {plan: message("x"), target: target{upgrade: say2("HTTP/1.1 101 Switching Protocols\r\n\r\n")}, want: broken},
		"another's key":      {plan: message("x"), target: target{upgrade: func(string) string { return switching("", "") }}, want: broken},
		"extension":          {plan: message("x"), target: target{upgrade: func(r string) string { return switching(r, "Sec-WebSocket-Extensions: permessage-deflate\r\n") }}, want: broken},
		"subprotocol":        {plan: message("x"), target: target{upgrade: func(r string) string { return switching(r, "Sec-WebSocket-Protocol: chat\r\n") }}, want: broken},
		"offered":            {plan: message("x", header("Sec-WebSocket-Protocol", "talk, chat")), target: target{upgrade: func(r string) string { return switching(r, "Sec-WebSocket-Protocol: chat\r\n") }}, want: ok},
		"refused":            {plan: message("x"), target: target{upgrade: say2("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno"), shut: true}, want: []loadtest.Want{{Kind: failure.Status}}},
		"moved":              {plan: message("x"), target: target{upgrade: say2("HTTP/1.1 301 Moved\r\nLocation: /\r\n\r\n")}, want: []loadtest.Want{{Kind: failure.Status}}},
		"refused by data":    {plan: rows, target: target{upgrade: say2("HTTP/1.1 401 Unauthorized\r\n\r\n")}, want: []loadtest.Want{{Kind: failure.Status, Status: 401}, {Kind: failure.Status, Status: 401}}},
		"bare line feeds":    {plan: message("x"), target: target{upgrade: say2("HTTP/1.1 404 Not Found\n\n")}, want: []loadtest.Want{{Kind: failure.Status}}},
		"endless head":       {plan: message("x"), target: target{upgrade: say2("HTTP/1.1 101 Switching Protocols\r\n" + strings.Repeat("X-Filler: "+strings.Repeat("0", 6500)+"\r\n", 11))}, want: []loadtest.Want{{Kind: failure.HeaderTooLarge}}},
	} {
		t.Run(name, func(t *testing.T) {
			test.target.t = t
			loadtest.Wire(t, loadtest.Subject{Protocol: newProtocol(t, test.plan), Plan: test.plan, Target: test.target.make,
				Exchanges: test.want, Allocates: test.plan == checked})
		})
	}
}

// say2 answers every upgrade the same way.
func say2(answer string) func(string) string { return func(string) string { return answer } }

// talk opens a wire to a target, and sends one message over it.
func talk(t *testing.T, w load.Wire, s *target, x *load.Exchange) ([]*load.Exchange, error) {
	t.Helper()
	out := w.Open(nil)
	var ended []*load.Exchange
	for range 10 {
		if room, _ := w.State(); room > 0 && x != nil {
			var err error
			if out, err = w.Send(x, out); err != nil {
				t.Fatal(err)
			}
			x = nil
		}
		answer, _ := s.answer(out)
		var err error
		if out, ended, err = w.Receive(answer, 5, nil, ended); err != nil {
			return ended, err
		}
	}
	return ended, nil
}

func TestWhatGoesOut(t *testing.T) {
	p := message("h\u00e9llo", header("Authorization", "Bearer secret"))
	p.Requests[0].URL = "ws://example.test/chat?room=1#top"
	made := newProtocol(t, p)
	s := &target{t: t, say: func(byte, string) string {
		return frame(ping, "are you there?") + frame(ping, "and now?") + frame(closing, "\x03\xe9bye")
	}}
	x := &load.Exchange{}
	ended, err := talk(t, made.Wire(0), s, x)
	if err != nil || len(ended) != 1 || x.Err == nil || !strings.Contains(x.Err.Error(), `1001 (going away): "bye"`) {
		t.Errorf("ended %v with %v, error %v", ended, x.Err, err)
	}
	upgrade := s.requests[0]
	for _, want := range []string{"GET /chat?room=1 HTTP/1.1\r\nHost: example.test\r\n", "\r\nUpgrade: websocket\r\n",
		"\r\nConnection: Upgrade\r\n",
		"\r\nSec-WebSocket-Version: 13\r\n", "\r\nAuthorization: Bearer secret"} {
		if !strings.Contains(upgrade, want) {
			t.Errorf("upgrade %q has no %q", upgrade, want)
		}
	}
	want := []string{"\x81h\u00e9llo", "\x8aare you there?", "\x8aand now?", "\x88\x03\xe9"}
	if fmt.Sprint(s.messages) != fmt.Sprint(want) {
		t.Errorf("frames %q, want %q", s.messages, want)
	}
}

func TestKeysDiffer(t *testing.T) {
	made, seen := newProtocol(t, message("x")), map[string]bool{}
	for range 3 {
		w := made.Wire(0)
		for range 2 {
			_, key, _ := strings.Cut(string(w.Open(nil)), "Sec-WebSocket-Key: ")
			key, _, _ = strings.Cut(key, "\r\n")
			if raw, err := base64.StdEncoding.DecodeString(key); err != nil || len(raw) != 16 || seen[key] {
				t.Errorf("key %q of %d bytes (%v), seen before: %v", key, len(raw), err, seen[key])
			}
			seen[key] = true
		}
	}
}

// TestAnswerBegunBeforeTheMessageIsNone: an answer that was already on its way answers
// something else.
func TestAnswerBegunBeforeTheMessageIsNone(t *testing.T) {
	w := newProtocol(t, message("x")).Wire(0)
	if _, err := talk(t, w, &target{t: t}, nil); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Receive([]byte(frame(part, "push")), 1, nil, nil); err != nil {
		t.Fatal(err)
	}
	x := &load.Exchange{}
	if _, err := w.Send(x, nil); err != nil {
		t.Fatal(err)
	}
	_, ended, err := w.Receive([]byte(frame(last, "ed")), 2, nil, nil)
	if err != nil || len(ended) != 0 || x.FirstByte != 0 {
		t.Fatalf("ended %v, error %v, first byte %v", ended, err, x.FirstByte)
	}
	_, ended, err = w.Receive([]byte(frame(binaryFrame, "answer")), 3, nil, nil)
	if err != nil || len(ended) != 1 || x.FirstByte != 3 || x.BytesIn != 8 {
		t.Errorf("ended %v, error %v, %+v", ended, err, x)
	}
}

// TestPushedMessagesCount: what comes after the answer was not asked for; a welcome before the first message is no answer of
// another's either.
func TestPushedMessagesCount(t *testing.T) {
	p := newProtocol(t, message("x"))
	w := p.Wire(0)
	welcome := func(r string) string { return switching(r, "") + frame(text, "welcome") }
	if _, err := talk(t, w, &target{t: t, upgrade: welcome}, nil); err != nil {
		t.Fatal(err)
	}
	if n := p.Pushed(); n != 0 {
		t.Errorf("%d pushed before the first message", n)
	}
	if _, err := w.Send(&load.Exchange{}, nil); err != nil {
		t.Fatal(err)
	}
	in := frame(text, "answer") + frame(text, "news") + frame(ping, "") + frame(part, "more ") + frame(last, "news")
	if _, ended, err := w.Receive([]byte(in), 1, nil, nil); err != nil || len(ended) != 1 {
		t.Fatalf("ended %v, error %v", ended, err)
	}
	if n := p.Pushed(); n != 2 {
		t.Errorf("%d of 2 pushed messages were counted", n)
	}
}

func TestCancelSaysGoodbye(t *testing.T) {
	w := newProtocol(t, message("x")).Wire(0)
	s, x := &target{t: t, say: func(byte, string) string { return "" }}, &load.Exchange{}
	if ended, err := talk(t, w, s, x); err != nil || len(ended) != 0 {
		t.Fatal(ended, err)
	}
	out, keep := w.Cancel(x, nil)
	if room, over := w.State(); keep || room != 0 || !over {
		t.Errorf("keep %v, room %d, over %v", keep, room, over)
	}
	s.answer(out)
	if got := s.messages[len(s.messages)-1]; got != "\x88\x03\xe9" {
		t.Errorf("the last frame is %q", got)
	}
}

func TestEndpoints(t *testing.T) {
	p := message("x", header("Cookie", "a"))
	for _, change := range []func(*scenario.Request){
		header("Cookie", "a"),
		header("Cookie", "b"),
		func(q *scenario.Request) { q.URL = "wss://127.0.0.1/chat" },
		func(q *scenario.Request) { q.URL = "wss://127.0.0.1/talk" },
	} {
		p.Requests = append(p.Requests, message("y", change).Requests[0])
	}
	made := newProtocol(t, p)
	var of []int
	for i := range p.Requests {
		of = append(of, made.Host(i))
	}
	hosts := made.Hosts()
	if fmt.Sprint(of) != "[0 0 1 2 3]" || len(hosts) != 4 || hosts[1].Address != "127.0.0.1:9" || hosts[2].Address != "127.0.0.1:443" {
		t.Fatalf("hosts %v of requests %v", hosts, of)
	}
	if hosts[0].TLS != nil || hosts[2].TLS == nil || hosts[2].TLS != hosts[3].TLS || fmt.Sprint(hosts[2].TLS.NextProtos) != "[http/1.1]" {
		t.Errorf("TLS %v", hosts)
	}
}

func TestPlansThatAreNotMessages(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*scenario.Request)
		want   string
	}{
		"status check": {func(q *scenario.Request) { q.Checks = []scenario.Check{{Name: "c", Status: []int{200}}} }, "no status"},
		"nobody checks": {func(q *scenario.Request) {
			q.NoReply, q.Checks = true, []scenario.Check{{Name: "c", Body: true, Contains: "x"}}
		}, "expects no answer"},
		"other scheme":  {func(q *scenario.Request) { q.URL = "http://127.0.0.1:7" }, "ws://"},
		"expect":        {func(q *scenario.Request) { q.Expect = 200 }, "101"},
		"follow":        {func(q *scenario.Request) { q.Follow = true }, "redirects"},
		"our header":    {header("Sec-WebSocket-Key", "x"), "set by redline"},
		"no header":     {header("a b", "x"), "cannot be sent"},
		"two in one":    {header("A", "x\r\nB: y"), "control character"},
		"unknown place": {header("A", "{{nobody}}"), "no feeder"},
		"unknown body":  {func(q *scenario.Request) { q.Body = "{{nobody}}" }, "no feeder"},
		"streams":       {func(*scenario.Request) {}, "one message at a time"},
		"no request":    {nil, "no request"},
	} {
		p := &scenario.Plan{}
		if test.change != nil {
			p = message("x", test.change)
		}
		if name == "streams" {
			p.Load.Streams = 2
		}
		if _, err := websocket.New(p); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, test.want)
		}
	}
}

func FuzzReceive(f *testing.F) {
	s := loadtest.Subject{Protocol: newProtocol(f, message("x")), Exchanges: make([]loadtest.Want, 1)}
	for _, seed := range []string{frame(part, "a") + frame(ping, "p") + frame(last, "b"), frame(closing, "\x03\xe8bye"),
		frame(text, strings.Repeat("x", 300))} {
		f.Add([]byte("\x04"+seed), true)
	}
	f.Add([]byte("\x10HTTP/1.1 101 Switching Protocols\r\n\r\n"), false)
	f.Fuzz(func(t *testing.T, in []byte, upgraded bool) {
		s := s
		if upgraded {
			s.Target = (&target{t: t}).make
		}
		loadtest.Survive(t, s, in)
	})
}

// BenchmarkMessage is one message of 128 bytes and its answer, without a
// socket.
func BenchmarkMessage(b *testing.B) {
	w := newProtocol(b, message(strings.Repeat("x", 128))).Wire(0)
	s := &target{t: b}
	answer, _ := s.answer(w.Open(nil))
	w.Receive(answer, 1, nil, nil)
	in, out := []byte(frame(text, strings.Repeat("y", 128))), make([]byte, 0, 256)
	var ended []*load.Exchange
	x := &load.Exchange{}
	b.ReportAllocs()
	for b.Loop() {
		*x = load.Exchange{}
		w.Send(x, out)
		_, ended, _ = w.Receive(in, 1, nil, ended[:0])
	}
	if len(ended) != 1 {
		b.Fatal("the message did not end")
	}
}
