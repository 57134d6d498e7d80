package http1

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
)

func TestRequestBytes(t *testing.T) {
	data := map[string]*feeder.Table{"u": {Columns: []string{"id", "text"}, Rows: [][]string{{"7", `a b&"ü"`}}}}
	tests := []struct {
		name   string
		q      scenario.Request
		want   string
		static bool
	}{
		{"plain", scenario.Request{URL: "http://h.test"},
			"GET / HTTP/1.1\r\nHost: h.test\r\nUser-Agent: redline\r\n\r\n", true},
		{"query alone, fragment dropped", scenario.Request{URL: "http://h.test:81?a=b#c", Method: "DELETE"},
			"DELETE /?a=b HTTP/1.1\r\nHost: h.test:81\r\nUser-Agent: redline\r\n\r\n", true},
		{"headers in order, defaults replaced", scenario.Request{URL: "http://h.test/x",
			Headers: map[string]scenario.Secret{"host": "other", "B": "2", "A": "1", "User-Agent": "me"}},
			"GET /x HTTP/1.1\r\nA: 1\r\nB: 2\r\nUser-Agent: me\r\nhost: other\r\n\r\n", true},
		{"body", scenario.Request{URL: "http://h.test/x", Method: "POST", Body: `{"a":1}`},
			"POST /x HTTP/1.1\r\nHost: h.test\r\nUser-Agent: redline\r\nContent-Length: 7\r\n\r\n{\"a\":1}", true},
		{"no body", scenario.Request{URL: "http://h.test/x", Method: "PUT"},
			"PUT /x HTTP/1.1\r\nHost: h.test\r\nUser-Agent: redline\r\nContent-Length: 0\r\n\r\n", true},
		{"data", scenario.Request{URL: "http://h.test/{{u.id}}?t={{ u.text }}", Method: "POST",
			Headers: map[string]scenario.Secret{"X": "id={{u.id}}"}, Body: "[{{u.text}}]"},
			"POST /7?t=a+b%26%22%C3%BC%22 HTTP/1.1\r\nHost: h.test\r\nUser-Agent: redline\r\nX: id=7\r\nContent-Length: 10\r\n" +
				"\r\n[a b&\"ü\"]", false},
	}
	for _, test := range tests {
		p := &scenario.Plan{Requests: []scenario.Request{test.q}, Data: data}
		r, _, err := compile(test.q, p)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if (r.static != nil) != test.static {
			t.Errorf("%s: built beforehand: %v", test.name, r.static != nil)
		}
		cursor := p.NewCursor(1)
		for range 2 {
			if got := r.append([]byte("before "), cursor, nil); string(got) != "before "+test.want {
				t.Errorf("%s:\n got %q\nwant %q", test.name, got, test.want)
			}
		}
	}
}

func TestWhatCannotBeSent(t *testing.T) {
	bad := map[string]*feeder.Table{"u": {Columns: []string{"x"}, Rows: [][]string{{"1\r\nEvil: 1"}}}}
	for want, q := range map[string]scenario.Request{
		"scheme \"ftp\"":        {URL: "ftp://h.test/"},
		"no scheme":             {URL: "h.test/x"},
		"no valid host":         {URL: "http:///x"},
		"cannot come from data": {URL: "http://{{u}}/"},
		"credentials":           {URL: "http://me:secret@h.test/"},
		"percent-encoded":       {URL: "http://h.test/a b"},
		"method \"A B\"":        {URL: "http://h.test/", Method: "A B"},
		"method \"CONNECT\"":    {URL: "http://h.test/", Method: "CONNECT"},
		"set by redline":        {URL: "http://h.test/", Headers: map[string]scenario.Secret{"content-Length": "5"}},
		"given twice":           {URL: "http://h.test/", Headers: map[string]scenario.Secret{"A": "5", "a": "5"}},
		"header name":           {URL: "http://h.test/", Headers: map[string]scenario.Secret{"A:": "5"}},
		"control character":     {URL: "http://h.test/", Headers: map[string]scenario.Secret{"A": "5\r\nB: 6"}},
		"cannot hold a control": {URL: "http://h.test/", Headers: map[string]scenario.Secret{"A": "{{u}}"}},
		"no feeder named":       {URL: "http://h.test/{{nobody}}"},
	} {
		q.Name = "it"
		_, err := New(&scenario.Plan{Requests: []scenario.Request{q}, Data: bad})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "request it") {
			t.Errorf("error %v, want it to say %q", err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("error %v shows a secret", err)
		}
	}
}
