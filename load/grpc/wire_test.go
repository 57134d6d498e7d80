package grpc

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/failure"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

// shopPlan is a plan of one call of a method of shop.
func shopPlan(t testing.TB, method, body string) *scenario.Plan {
	return &scenario.Plan{
		Load: scenario.Load{Streams: 3, Timeout: time.Hour},
		Requests: []scenario.Request{{Name: method, URL: feeder.Template("grpc://127.0.0.1:1/shop.Shop/" + method),
			Body: feeder.Template(body)}},
		GRPC: scenario.GRPC{Descriptor: shopSet(t), DescriptorFile: "shop.pb"},
	}
}

func newProtocol(t testing.TB, p *scenario.Plan) *Protocol {
	t.Helper()
	made, err := New(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// subject is a plan against a peer, with calls that all end the same way.
func subject(t testing.TB, p *scenario.Plan, answer func(id uint32) []byte, want loadtest.Want) loadtest.Subject {
	return loadtest.Subject{
		Protocol: newProtocol(t, p), Plan: p, Streams: p.Load.Streams, Exchanges: []loadtest.Want{want, want, want, want},
		Target: func() func([]byte) ([]byte, bool) {
			return (&peer{first: frame(settings, 0, 0, nil),
				answer: func(id uint32, _ []byte) ([]byte, bool) { return answer(id), false }}).take
		},
	}
}

const item = "\x0a\x01x\x10\x05" // {"name": "x", "count": 5}

func TestWire(t *testing.T) {
	good := loadtest.Want{}
	bad := loadtest.Want{Kind: failure.BadResponse}
	unknown := loadtest.Want{Kind: failure.BadResponse, Status: codeUnknown}
	buy := func(change ...func(*scenario.Request)) *scenario.Plan {
		p := shopPlan(t, "Buy", `{"userName":"me"}`)
		for _, f := range change {
			f(&p.Requests[0])
		}
		return p
	}
	expects := func(code int) func(*scenario.Request) { return func(q *scenario.Request) { q.Expect = code } }
	rows := shopPlan(t, "Buy", `{"userName":"{{d.a}}","item":{"count":{{d.b}}},"words":["x","{{d.a}}"]}`)
	rows.Data = row(strings.Repeat("long ", 50), "5").Data
	rows.Data["d"].Rows = append(rows.Data["d"].Rows, []string{"short", "-1"})
	rows.Requests[0].Headers = map[string]scenario.Secret{"X-Id": "{{d.b}}"}
	one := func(id uint32) []byte { return joined(begins(id), says(id, item), ends(id, "grpc-status", "0")) }
	for name, s := range map[string]loadtest.Subject{
		"unary": subject(t, buy(), one, good),
		"rows":  subject(t, rows, one, good),
		"an empty message": subject(t, buy(), func(id uint32) []byte {
			return joined(begins(id), says(id, ""), ends(id, "grpc-status", "0"))
		}, good),
		"a server's stream": subject(t, shopPlan(t, "Watch", `{}`), func(id uint32) []byte {
			return joined(begins(id), says(id, item, "", item), says(id, strings.Repeat("x", 5000)), ends(id, "grpc-status", "0"))
		}, good),
		"an empty stream": subject(t, shopPlan(t, "Watch", `{}`), func(id uint32) []byte {
			return joined(begins(id), ends(id, "grpc-status", "0"))
		}, good),
		"streams of both": subject(t, shopPlan(t, "Talk", `[{"count":1},{"count":2}]`), func(id uint32) []byte {
			return joined(begins(id), says(id, item, item), ends(id, "grpc-status", "0"))
		}, good),
		"a status": subject(t, buy(), func(id uint32) []byte {
			return joined(begins(id), ends(id, "grpc-status", "5", "grpc-message", "no%20such%0Athing"))
		}, loadtest.Want{Kind: failure.Status, Status: 5}),
		"trailers only": subject(t, buy(), func(id uint32) []byte {
			return head(endStream, id, ":status", "200", "content-type", "application/grpc", "grpc-status", "16")
		}, loadtest.Want{Kind: failure.Status, Status: 16}),
		"the expected status": subject(t, buy(expects(5)), func(id uint32) []byte {
			return joined(begins(id), ends(id, "grpc-status", "5"))
		}, loadtest.Want{Status: 5}),
		"another one than expected": subject(t, buy(expects(5)), one, loadtest.Want{Kind: failure.Status}),
		"a status that nobody knows": subject(t, buy(), func(id uint32) []byte {
			return joined(begins(id), ends(id, "grpc-status", "99"))
		}, loadtest.Want{Kind: failure.Status, Status: codeUnknown}),
		"no status that is one": subject(t, buy(), func(id uint32) []byte {
			return joined(begins(id), ends(id, "grpc-status", "OK"))
		}, unknown),
		"no status":                  subject(t, buy(), func(id uint32) []byte { return joined(begins(id), says(id, item), ends(id, "x", "y")) }, unknown),
		"an end without trailers":    subject(t, buy(), func(id uint32) []byte { return joined(begins(id), frame(data, endStream, id, nil)) }, unknown),
		"a status without a message": subject(t, buy(), func(id uint32) []byte { return joined(begins(id), ends(id, "grpc-status", "0")) }, bad),
		"two messages":               subject(t, buy(), func(id uint32) []byte { return joined(begins(id), says(id, item, item), ends(id, "grpc-status", "0")) }, bad),
		"half a message": subject(t, buy(), func(id uint32) []byte {
			return joined(begins(id), frame(data, 0, id, []byte("\x00\x00\x00\x00\x05half")), ends(id, "grpc-status", "0"))
		}, bad),
		"half a prefix": subject(t, shopPlan(t, "Watch", ""), func(id uint32) []byte {
			return joined(begins(id), frame(data, 0, id, []byte("\x00\x00")), ends(id, "grpc-status", "0"))
		}, bad),
		"a compressed message": subject(t, buy(), func(id uint32) []byte { return joined(begins(id), frame(data, 0, id, []byte("\x01\x00\x00\x00\x00"))) }, bad),
		"no messages at all":   subject(t, buy(), func(id uint32) []byte { return joined(begins(id), frame(data, 0, id, []byte("<html>..."))) }, bad),
		"a page": subject(t, buy(), func(id uint32) []byte {
			return joined(head(0, id, ":status", "200", "content-type", "text/html"), frame(data, endStream, id, []byte("<html>")))
		}, unknown),
		"a page without a body": subject(t, buy(), func(id uint32) []byte {
			return head(endStream, id, ":status", "200", "content-type", "application/grpcweb")
		}, unknown),
		"a proxy's page": subject(t, buy(), func(id uint32) []byte {
			return joined(head(0, id, ":status", "503", "content-type", "text/html"), frame(data, endStream, id, []byte("<html>")))
		}, loadtest.Want{Kind: failure.Status, Status: codeUnavailable}),
		"a proxy's page, as expected": subject(t, buy(expects(codeUnimplemented)), func(id uint32) []byte { return head(endStream, id, ":status", "404") }, loadtest.Want{Status: codeUnimplemented}),
		"a proxy that knows gRPC": subject(t, buy(), func(id uint32) []byte {
			return head(endStream, id, ":status", "503", "grpc-status", "8")
		}, loadtest.Want{Kind: failure.Status, Status: 8}),
		"reset": subject(t, buy(), func(id uint32) []byte { return joined(begins(id), frame(reset, 0, id, []byte{0, 0, 0, 8})) },
			loadtest.Want{Kind: failure.StreamReset}),
		"a deadline that was the server's": subject(t, buy(),
			func(id uint32) []byte { return joined(begins(id), ends(id, "grpc-status", "4")) },
			loadtest.Want{Kind: failure.Status, Status: codeDeadlineExceeded}),
	} {
		t.Run(name, func(t *testing.T) { loadtest.Wire(t, s) })
	}
}

// TestBodiesThatWait has messages larger than the peer's windows.
func TestBodiesThatWait(t *testing.T) {
	var body string
	for range 20 {
		body += `,{"name":"` + strings.Repeat("name", 100) + `"}`
	}
	for name, plan := range map[string]*scenario.Plan{
		"fixed":     shopPlan(t, "Fill", "["+body[1:]+"]"),
		"with data": shopPlan(t, "Fill", `[{"count":{{d.b}}}`+body+"]"),
	} {
		plan.Data = row("a", "5").Data
		plan.Load.Streams = 1
		s := subject(t, plan, nil, loadtest.Want{})
		want, _, err := compileBody("["+feeder.Template(strings.ReplaceAll(string(plan.Requests[0].Body), "{{d.b}}",
			"5"))[1:], nil, shopMethod(t, shopSchema(t), "Fill"), shopSchema(t))
		if err != nil {
			t.Fatal(err)
		}
		s.Target = func() func([]byte) ([]byte, bool) {
			return (&peer{first: frame(settings, 0, 0, []byte{0, windowOption, 0, 0, 3, 0xe8}),
				answer: func(id uint32, sent []byte) ([]byte, bool) {
					if !bytes.Equal(sent, want) {
						return ends(id, ":status", "200", "grpc-status", "3"), false
					}
					return joined(begins(id), says(id, item), ends(id, "grpc-status", "0")), false
				}}).take
		}
		s.Exchanges = s.Exchanges[:1]
		t.Run(name, func(t *testing.T) { loadtest.Wire(t, s) })
	}
}

func TestChecks(t *testing.T) {
	five := "5"
	plan := shopPlan(t, "Talk", `{}`)
	plan.Requests[0].Checks = []scenario.Check{
		{Name: "status", Status: []int{0, 5}},
		{Name: "metadata", Header: "X-Key", Contains: "val"},
		{Name: "trailers", Header: "x-late", Contains: "end"},
		{Name: "path", JSON: "$[1].count", Equals: &five},
		{Name: "default", JSON: "$[0].count", Contains: "0"},
		{Name: "body", Body: true, Contains: `"name":"x","count":5`},
		{Name: "wrong path", JSON: "$[2].count"},
		{Name: "wrong body", Body: true, Contains: "y"},
	}
	plan.Requests = append(plan.Requests, plan.Requests[0])
	plan.Requests[1].Name, plan.Requests[1].Expect, plan.Requests[1].Checks = "fails", 7, nil
	for name, test := range map[string]struct {
		answer func(id uint32) []byte
		want   loadtest.Want
	}{
		"all there": {func(id uint32) []byte {
			return joined(begins(id), says(id, "", item), ends(id, "grpc-status", "0", "x-late", "end"))
		}, loadtest.Want{Failed: 0b11000000}},
		"an error": {func(id uint32) []byte {
			return head(endStream, id, ":status", "200", "grpc-status", "5")
		}, loadtest.Want{Kind: failure.Status, Status: 5, Failed: 0b11111110}},
		"not the type": {func(id uint32) []byte {
			return joined(begins(id), says(id, "\x0a\x09x"), ends(id, "grpc-status", "0"))
		}, loadtest.Want{Kind: failure.BadResponse}},
		"too large": {func(id uint32) []byte {
			out := begins(id)
			for range maxKept/10000 + 1 {
				out = append(out, says(id, strings.Repeat("x", 10000))...)
			}
			return append(out, ends(id, "grpc-status", "0")...)
		}, loadtest.Want{Failed: 0b11111100}},
	} {
		t.Run(name, func(t *testing.T) {
			s := subject(t, plan, test.answer, test.want)
			if name == "too large" {
				s.Exchanges = s.Exchanges[:1]
				once(t, s)
				return
			}
			// The last one fails, because decoding allocates.
			s.Exchanges[3] = loadtest.Want{Request: 1, Kind: failure.Status, Status: test.want.Status}
			loadtest.Wire(t, s)
		})
	}
}

// once drives the first exchange, in one piece in each direction, and returns it.
func once(t *testing.T, s loadtest.Subject) *load.Exchange {
	t.Helper()
	x := &load.Exchange{Request: s.Exchanges[0].Request, Sent: time.Second}
	w, target := s.Protocol.Wire(0), s.Target()
	out := w.Open(nil)
	for now := 2 * time.Second; x.Done == 0; now += time.Millisecond {
		answer, _ := target(out)
		var err error
		if out, _, err = w.Receive(answer, now, nil, nil); err != nil {
			t.Fatal(err)
		}
		if x.BytesOut == 0 {
			if out, err = w.Send(x, out); err != nil {
				t.Fatal(err)
			}
		} else if len(answer) == 0 && x.Done == 0 {
			t.Fatal("the peer has no more to say")
		}
	}
	if want := s.Exchanges[0]; failure.Of(x.Err) != want.Kind || x.Status != want.Status {
		t.Errorf("%v, status %d, want %+v", x.Err, x.Status, want)
	}
	if x.Failed != s.Exchanges[0].Failed {
		t.Errorf("checks %b failed, want %b", x.Failed, s.Exchanges[0].Failed)
	}
	return x
}

// TestTheDeadlineIsTheTimeout has a server that notices the plan's timeout
// before redline does.
func TestTheDeadlineIsTheTimeout(t *testing.T) {
	plan := shopPlan(t, "Buy", "")
	plan.Load.Timeout = time.Second
	s := subject(t, plan, func(id uint32) []byte { return joined(begins(id), ends(id, "grpc-status", "4")) },
		loadtest.Want{Kind: failure.Timeout, Status: codeDeadlineExceeded})
	once(t, s)
}

func TestErrorsSayWhatTheServerSays(t *testing.T) {
	for message, want := range map[string]string{
		"no%20such%0Athing":      "status NOT_FOUND: no such thing",
		"":                       "status NOT_FOUND",
		"%":                      "status NOT_FOUND: %",
		"100%zz":                 "status NOT_FOUND: 100%zz",
		"password=abc":           "status NOT_FOUND: password=[redacted]",
		strings.Repeat("x", 999): "status NOT_FOUND: " + strings.Repeat("x", 200) + "...",
	} {
		s := subject(t, shopPlan(t, "Buy", ""), func(id uint32) []byte {
			return joined(begins(id), ends(id, "grpc-status", "5", "grpc-message", message))
		}, loadtest.Want{Kind: failure.Status, Status: 5})
		if x := once(t, s); x.Err.Error() != "status: "+want {
			t.Errorf("%q, want %q", x.Err, want)
		}
	}
}
