package accesslog

import (
	"strings"
	"testing"
)

func TestMalformed(t *testing.T) {
	good := `1.1.1.1 - - [31/Jan/2026:08:00:00.500 +0000] "GET /secret HTTP/1.1" 200 1 "-" "-"` + "\n"
	read := func(text string) (*Log, error) { return Read(strings.NewReader(text), "combined", nil) }
	log, err := read(strings.Repeat(good, 99) + "secret\n")
	if err != nil || log.Malformed != 1 || log.Lines != 100 || log.First.Error() != `line 100: it has no [time] "request"` {
		t.Errorf("%+v, %v", log, err)
	}
	for text, want := range map[string]string{
		strings.Repeat(good, 98) + "x\n": "line 99: ",
		"":                               "no requests",
		strings.Replace(good, "/secret", "secret", 1):            "line 1: its path does not begin with a slash (1 of 1",
		strings.Replace(good, "Jan", "Foo", 1):                   "its time",
		strings.Replace(good, "GET /secret HTTP/1.1", "-", 1):    "its request",
		strings.Replace(good, "GET", "G\\x00T", 1):               "its method",
		strings.Replace(good, ` HTTP/1.1" 200 1 "-" "-"`, "", 1): "quotes are not closed",
		strings.Replace(good, "2026", "1926", 1):                 "year 1926",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100q: %v", text, err)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error tells what the log holds: %v", err)
		}
	}
	for text, want := range map[string]string{
		`{"time": 1767225600000, "path": "/"}`:                         "seconds since 1970",
		`{"time": "yesterday", "path": "/"}`:                           "RFC 3339",
		`{"path": "/"}`:                                                "RFC 3339",
		`{"time": 1, "path": "x"}`:                                     "slash",
		`{"time": 1, "path": "/", "method": "A B"}`:                    "method",
		`{"time": 1, "path": "/", "headers": {"A": "x\r\nB: y"}}`:      "cannot be sent",
		`{"time": 1, "path": "/", "headers": {"A B": "x"}}`:            "cannot be sent",
		`{"time": 1, "path": "/", "headers": [1]}`:                     "not a JSON object",
		`{"time": 1, "path": "/` + strings.Repeat("x", maxPath) + `"}`: "over 8192 bytes",
	} {
		if _, err := Read(strings.NewReader(text), "jsonl", nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v", text, err)
		}
	}
	if _, err := Read(strings.NewReader(good), "combined", []string{"POST"}); err == nil {
		t.Error("no request is left")
	}
}
