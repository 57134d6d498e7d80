package http2

import (
	"bytes"
	"strings"
	"testing"

	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// script is what a peer sends on a complete request.
type script = func(p *peer, id uint32, path string, body []byte) (out []byte, shut bool)

// each answers every request with the result of f.
func each(f func(id uint32) []byte) script {
	return func(_ *peer, id uint32, _ string, _ []byte) ([]byte, bool) { return f(id), false }
}

// closing closes the connection after the result of f.
func closing(f func(id uint32) []byte) script {
	return func(_ *peer, id uint32, _ string, _ []byte) ([]byte, bool) { return f(id), true }
}

func ok(id uint32) []byte { return answer200(nil, id) }

// tabled answers like a server that uses a table: the second head is one byte.
func tabled() script {
	return func(p *peer, id uint32, _ string, _ []byte) ([]byte, bool) {
		if p.said == 0 {
			// Two fields enter the table; the status is in the static one.
			block := append([]byte{0x88, 0x40, 1, 'x'}, 1, 'y')
			block = append(block, 0x40, 14)
			block = append(append(block, "content-length"...), 1, '2')
			return joined(framed(frameHeaders, flagEndHeaders, id, block...), framed(frameData, flagEndStream, id, 'o', 'k')), false
		}
		return joined(framed(frameHeaders, flagEndHeaders, id, 0x88, 0xbe, 0xbf), framed(frameData, flagEndStream, id, 'o', 'k')), false
	}
}

func get(change ...func(*scenario.Request)) *scenario.Plan {
	p := &scenario.Plan{
		Load:     scenario.Load{Streams: 3},
		Requests: []scenario.Request{{Name: "get", URL: "http://127.0.0.1:8080/x"}},
	}
	for _, f := range change {
		f(&p.Requests[0])
	}
	return p
}

func posting(body string) *scenario.Plan {
	return get(func(q *scenario.Request) { q.Method, q.Body = "POST", feeder.Template(body) })
}

func protocol(t testing.TB, p *scenario.Plan) *Protocol {
	t.Helper()
	made, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// subject is a plan against a peer, with exchanges that all end the same way.
func subject(t testing.TB, p *scenario.Plan, first []byte, answer script, n int, want loadtest.Want) loadtest.Subject {
	s := loadtest.Subject{
		Protocol: protocol(t, p), Plan: p, Streams: p.Load.Streams,
		Target: func() func([]byte) ([]byte, bool) {
			return (&peer{first: first, answer: answer}).take
		},
	}
	for range n {
		s.Exchanges = append(s.Exchanges, want)
	}
	return s
}

func TestWire(t *testing.T) {
	good := loadtest.Want{Status: 200}
	bad := loadtest.Want{Kind: failure.BadResponse}
	badAfterHead := loadtest.Want{Kind: failure.BadResponse, Status: 200}
	head := func(q *scenario.Request) { q.Method = "HEAD" }
	large := strings.Repeat("body ", 5000)
	data := get(func(q *scenario.Request) {
		q.URL, q.Method, q.Body = "http://127.0.0.1:8080/{{user.id}}", "POST", "{{user.text}}"
		q.Headers = map[string]scenario.Secret{"X-Id": "{{user.id}}"}
	})
	data.Data = map[string]*feeder.Table{"user": {
		Columns: []string{"id", "text"},
		Rows:    [][]string{{"1", "short"}, {"22", large}, {"333", ""}},
	}}
	plain := settings()
	one := func(id uint32) []byte { return heading(flagEndStream, id, ":status", "204") }
	for name, s := range map[string]loadtest.Subject{
		"answers": subject(t, get(), plain, each(ok), 6, good),
		"no table, and it says so": subject(t, get(), plain, func(p *peer, id uint32, _ string, _ []byte) ([]byte, bool) {
			if p.said == 0 {
				return framed(frameHeaders, flagEndHeaders|flagEndStream, id, 0x20, 0x88), false
			}
			return ok(id), false
		}, 6, good),
		"a table all the same": subject(t, serial(get()), plain, tabled(), 5, good),
		"one stream at once":   subject(t, get(), settings(settingStreams, 1), each(ok), 4, good),
		"no body":              subject(t, get(), plain, each(one), 4, loadtest.Want{Status: 204}),
		"padding and priority": subject(t, get(), plain, each(func(id uint32) []byte {
			block := joined([]byte{3, 0, 0, 0, 0, 9}, fields(":status", "200", "content-length", "4"), make([]byte, 3))
			return joined(framed(frameHeaders, flagPadded|flagPriority|flagEndHeaders, id, block...),
				framed(frameData, flagPadded, id, 2, 'o', 'k', 0, 0), framed(frameData, flagPadded, id, 0),
				framed(frameData, flagPadded, id, 1, 'a', 'y', 0), framed(frameData, 0, id), framed(frameData, flagEndStream, id))
		}), 4, good),
		"continuations, interim heads and trailers": subject(t, get(), plain, each(func(id uint32) []byte {
			block := fields(":status", "200", "x", "y")
			return joined(heading(0, id, ":status", "103", "link", "x"), heading(0, id, ":status", "103"),
				framed(frameHeaders, 0, id, block[:2]...), framed(frameContinuation, 0, id), framed(frameContinuation,
					flagEndHeaders, id, block[2:]...),
				framed(frameData, 0, id, []byte("body")...), heading(flagEndStream, id, "x", "y"))
		}), 4, good),
		"unknown frames": subject(t, get(), plain, each(func(id uint32) []byte {
			return joined(framed(0xa, 0xff, 0, 1, 2, 3), framed(framePriority, 0, id, 0, 0, 0, 0, 1),
				framed(framePing, 0, 0, make([]byte, 8)...), ok(id))
		}), 3, good),
		"HEAD": subject(t, get(head), plain, each(func(id uint32) []byte {
			return heading(flagEndStream, id, ":status", "200", "content-length", "9")
		}), 3, good),
		"a body":         subject(t, posting("hello"), plain, echoes("hello"), 4, good),
		"a fitting body": subject(t, posting(large), plain, echoes(large), 2, good),
		"a body larger than its windows": subject(t, posting(large), settings(settingWindow, 1000),
			echoes(large), 1, good),
		"rows":     subject(t, data, plain, each(ok), 6, good),
		"a status": subject(t, get(), plain, each(func(id uint32) []byte { return heading(flagEndStream, id, ":status", "503") }), 3, loadtest.Want{Status: 503, Kind: failure.Status}),
		"reset": subject(t, get(), plain, each(func(id uint32) []byte {
			return joined(heading(0, id, ":status", "200"), framed(frameReset, 0, id, number(7)...))
		}), 4, loadtest.Want{Status: 200, Kind: failure.StreamReset}),
		"going away": subject(t, serial(get()), plain, each(func(id uint32) []byte {
			return joined(framed(frameGoAway, 0, 0, joined(number(id), number(0))...), ok(id))
		}), 3, good),
		"gone": subject(t, serial(get()), plain, closing(func(id uint32) []byte {
			return framed(frameGoAway, 0, 0, joined(number(0), number(0xb), []byte("too fast"))...)
		}), 3, loadtest.Want{Kind: failure.StreamReset}),
		"closed":             subject(t, serial(get()), plain, closing(func(id uint32) []byte { return nil }), 3, loadtest.Want{Kind: failure.EOF}),
		"closed in the body": subject(t, serial(get()), plain, closing(func(id uint32) []byte { return ok(id)[:len(ok(id))-1] }), 3, loadtest.Want{Kind: failure.ShortBody, Status: 200}),
		"shorter than it says": subject(t, get(), plain, each(func(id uint32) []byte {
			return joined(heading(0, id, ":status", "200", "content-length", "9"), framed(frameData, flagEndStream, id, []byte("short")...))
		}), 3, loadtest.Want{Kind: failure.ShortBody, Status: 200}),
		"longer than it says": subject(t, get(), plain, each(func(id uint32) []byte {
			return joined(heading(0, id, ":status", "200", "content-length", "3"), framed(frameData, 0, id, []byte("longer")...),
				framed(frameData, flagEndStream, id))
		}), 3, badAfterHead),
		"no status":  subject(t, get(), plain, each(func(id uint32) []byte { return heading(flagEndStream, id, "x", "y") }), 3, bad),
		"upper case": subject(t, get(), plain, each(func(id uint32) []byte { return heading(flagEndStream, id, ":status", "200", "X", "y") }), 3, bad),
		"two heads": subject(t, get(), plain, each(func(id uint32) []byte {
			return joined(heading(0, id, ":status", "200"), heading(flagEndStream, id, ":status", "200"))
		}), 3, badAfterHead),
		"a body first":   subject(t, get(), plain, each(func(id uint32) []byte { return framed(frameData, flagEndStream, id, 'x') }), 3, bad),
		"ends at 100":    subject(t, get(), plain, each(func(id uint32) []byte { return heading(flagEndStream, id, ":status", "100") }), 3, bad),
		"HTTP/1":         subject(t, serial(get()), []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), each(ok), 2, bad),
		"garbage":        subject(t, serial(get()), bytes.Repeat([]byte("x"), 100), each(ok), 2, bad),
		"no HPACK":       subject(t, serial(get()), plain, each(func(id uint32) []byte { return framed(frameHeaders, flagEndHeaders, id, 0xff, 0xff) }), 2, bad),
		"pushes":         subject(t, serial(get()), plain, each(func(id uint32) []byte { return framed(framePush, flagEndHeaders, id, 0, 0, 0, 2) }), 2, bad),
		"another stream": subject(t, serial(get()), plain, each(func(id uint32) []byte { return heading(0, id+2, ":status", "200") }), 2, bad),
		"interrupted": subject(t, serial(get()), plain, each(func(id uint32) []byte {
			return joined(framed(frameHeaders, 0, id, 0x88), framed(framePing, 0, 0, make([]byte, 8)...))
		}), 2, bad),
		"a huge frame": subject(t, serial(get()), plain, each(func(id uint32) []byte { return appendFrame(nil, 1<<15, frameData, 0, id) }), 2, bad),
		"padded away": subject(t, serial(get()), plain, each(func(id uint32) []byte {
			return joined(heading(0, id, ":status", "200"), framed(frameData, flagPadded, id, 9, 0))
		}), 1, badAfterHead),
		"endless head": subject(t, serial(get()), plain, each(endless), 2, loadtest.Want{Kind: failure.HeaderTooLarge}),
	} {
		t.Run(name, func(t *testing.T) { loadtest.Wire(t, s) })
	}
}

// serial is the plan with one stream at a time: the end of a connection would end
// the others on it too, depending on which came together.
func serial(p *scenario.Plan) *scenario.Plan {
	p.Load.Streams = 1
	return p
}

// echoes checks a request's body.
func echoes(want string) script {
	return func(_ *peer, id uint32, _ string, body []byte) ([]byte, bool) {
		if string(body) != want {
			return heading(flagEndStream, id, ":status", "400"), false
		}
		return ok(id), false
	}
}

// endless is a head without an end.
func endless(id uint32) []byte {
	out := framed(frameHeaders, 0, id, 0x88)
	filler := fields("x-filler", strings.Repeat("x", 10000))
	for range 7 {
		out = append(out, framed(frameContinuation, 0, id, filler...)...)
	}
	return out
}
