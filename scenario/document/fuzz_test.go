package document

import (
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/redline-go/redline/scenario/feeder"
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
	for _, text := range []string{replayText, tokenText, secureText,
		`{"requests": [{"grpc": "grpc://h:1/a.B/C", "message": {"n": 0x1, "s": "{{u}}"}}], "data": {"u": ["1"]}}`,
		`{load: {think: {mean: 1s}, sources: [::1]}, requests: ` +
			`[{get: "http://h/", checks: [{json: $.a, equals: 7}, {body: {contains: x}}]}]}`} {
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
		c := p.NewCursor(1)
		for _, r := range p.Requests {
			u, err := feeder.CompileURL(r.URL, p.Data)
			if err != nil {
				t.Fatalf("an accepted URL does not compile: %v", err)
			}
			u.Append(nil, c)
		}
		c.Next()
		p.Redacted()
	})
}
