package scenario

import (
	"bytes"
	"testing"

	"github.com/redline-go/redline/scenario/feeder"
)

const fuzzedLog = `127.0.0.1 - - [31/Jan/2026:08:00:01 +0000] "GET /b?x=1&y=a%20b HTTP/1.1" 200 12 "-" "curl/8.0"
127.0.0.1 - ann [31/Jan/2026:08:00:00 +0000] "GET /a HTTP/1.1" 200 12 "http://ref/" "agent \"x\""
127.0.0.1 - - [31/Jan/2026:08:00:01 +0000] "POST /orders HTTP/2.0" 201 0 "-" "-" "more" 0.003
127.0.0.1 - - [31/Jan/2026:09:00:01 +0100] "GET /a HTTP/1.1" 200 12 "-" "-"
127.0.0.1 - - [31/Jan/2026:08:00:01 +0000] "GET /caf\xC3\xA9?q=\x22 HTTP/1.1" 200 12 "-" "-"
`

// FuzzLog asserts that whatever a log holds, what is replayed of it can be put
// into a request: no control characters, no blanks, and times that ascend.
func FuzzLog(f *testing.F) {
	f.Add(true, []byte(fuzzedLog))
	f.Add(false, []byte(`{"time": 1767225600.25, "path": "/x?y", "method": "POST", "body": [1], "headers": {"X-Id": 7}}`))
	f.Fuzz(func(t *testing.T, combined bool, data []byte) {
		s := ReplaySource{File: "x", Base: "http://h", Format: "jsonl"}
		if combined {
			s.Format = "combined"
		}
		p := &Plan{Name: "x"}
		if err := s.Into(p, bytes.NewReader(data)); err != nil {
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatalf("what was read is not valid: %v", err)
		}
		for _, row := range p.Data[ReplayFeeder].Rows {
			for _, c := range []byte(row[0]) {
				if c <= ' ' || c >= 0x7f || c == '#' {
					t.Fatalf("path %q", row[0])
				}
			}
		}
		c := p.NewCursor(1)
		for i := range p.Load.Replay.At {
			r := p.Requests[p.Load.Replay.Request[i]]
			c.Seek(int(p.Load.Replay.Row[i]))
			u, err := feeder.CompileURL(r.URL, p.Data)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(u.Append(nil, c), []byte("http://h/")) {
				t.Fatal("the host is another")
			}
			if i > 20 {
				return
			}
		}
	})
}
