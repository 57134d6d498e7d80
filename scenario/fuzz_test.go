package scenario

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// FuzzParse asserts that no text makes the parser panic or loop, that what it
// accepts can be rendered and recorded, and that an error can be shown.
func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	files, _ := filepath.Glob("testdata/errors/*.yaml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, text := range []string{replayText, tokenText, secureText, `{"requests": [{"grpc": "grpc://h:1/a.B/C", "message": {"n": 0x1, "s": "{{u}}"}}], "data": {"u": ["1"]}}`,
		`{load: {think: {mean: 1s}, sources: [::1]}, requests: [{get: "http://h/", checks: [{json: $.a, equals: 7}, {body: {contains: x}}]}]}`} {
		f.Add([]byte(text))
	}
	fsys := testFiles(f)
	fsys["uids.csv"], fsys["data/users.csv"] = &fstest.MapFile{Data: []byte("uid,token\n1,a\n")}, wholeFS["data/users.csv"]
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := parse(fsys, "f.yaml", data, wholeEnv)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without text")
			}
			return
		}
		c := NewCursor(p, 1)
		for _, r := range p.Requests {
			u, err := CompileURL(r.URL, p)
			if err != nil {
				t.Fatalf("an accepted URL does not compile: %v", err)
			}
			u.Append(nil, c)
		}
		c.Next()
		p.Redacted()
	})
}

// FuzzLog asserts that whatever a log holds, what is replayed of it can be put
// into a request: no control characters, no blanks, and times that ascend.
func FuzzLog(f *testing.F) {
	f.Add(true, []byte(accessLogText))
	f.Add(false, []byte(`{"time": 1767225600.25, "path": "/x?y", "method": "POST", "body": [1], "headers": {"X-Id": 7}}`))
	f.Fuzz(func(t *testing.T, combined bool, data []byte) {
		s := replaySource{file: "x", base: "http://h", format: "jsonl"}
		if combined {
			s.format = "combined"
		}
		p := &Plan{Name: "x"}
		if err := s.into(p, bytes.NewReader(data)); err != nil {
			return
		}
		if err := p.Validate(); err != nil {
			t.Fatalf("what was read is not valid: %v", err)
		}
		for _, row := range p.Data[replayFeeder].Rows {
			for _, c := range []byte(row[0]) {
				if c <= ' ' || c >= 0x7f || c == '#' {
					t.Fatalf("path %q", row[0])
				}
			}
		}
		c := NewCursor(p, 1)
		for i := range p.Load.Replay.At {
			r := p.Requests[p.Load.Replay.Request[i]]
			c.Seek(int(p.Load.Replay.Row[i]))
			u, err := CompileURL(r.URL, p)
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

// FuzzJSONLines asserts that each row has a value for each column.
func FuzzJSONLines(f *testing.F) {
	f.Add([]byte("{\"id\": 1, \"name\": \"a\"}\n{\"name\": {\"x\": [1]}, \"id\": null}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table, err := readJSONLines(bytes.NewReader(data), []field{{"id", "0"}})
		if err != nil {
			return
		}
		if err := checkTable("x", table); err != nil {
			t.Fatal(err)
		}
	})
}
