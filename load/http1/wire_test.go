package http1

import (
	"bytes"
	"strings"
	"testing"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/loadtest"
	"github.com/redline-go/redline/scenario"
)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func get(url string) *scenario.Plan {
	return &scenario.Plan{Requests: []scenario.Request{{Name: "get", URL: scenario.Template(url)}}}
}

// protocol compiles a plan that must be right.
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
			case a.want.kind == load.KindBadResponse && strings.HasPrefix(a.text, "HTTP/1.1 200 OK\r\n"):
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
