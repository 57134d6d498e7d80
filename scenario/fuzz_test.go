package scenario

import (
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
	fsys := fstest.MapFS{"uids.csv": {Data: []byte("uid,token\n1,a\n")}, "data/users.csv": wholeFS["data/users.csv"]}
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

func FuzzRedactText(f *testing.F) {
	f.Add("postgres://u:p@h/db?sslpassword=x")
	f.Add(`{"password": "a", "x": 1}`)
	f.Fuzz(func(t *testing.T, s string) { RedactText(s) })
}
