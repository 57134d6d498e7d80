package anatomy_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/redline-go/redline/anatomy"
	"github.com/redline-go/redline/record/breakdown"
)

// FuzzAnalyze feeds traces that are cut, changed and joined. Whatever is read,
// the analysis ends without a panic and what it returns keeps its shape.
func FuzzAnalyze(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*.trace")
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(data[:len(data)/2])
		f.Add(append(data[:len(data)/3:len(data)/3], data[len(data)/2:]...))
		broken := bytes.Clone(data)
		for i := 100; i < len(broken); i += 997 {
			broken[i] ^= 0x55
		}
		f.Add(broken)
	}
	data, err := os.ReadFile("testdata/go1.26-generations.trace")
	if err != nil {
		f.Fatal(err)
	}
	ends := generations(f, data)
	f.Add(append(data[:ends[0]:ends[0]], data[ends[1]:]...))
	f.Add(append(data[:ends[1]:ends[1]], data[ends[0]:]...))
	f.Add([]byte("go 1.26 trace\x00\x00\x00"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			return
		}
		var lines []breakdown.Timeline
		inputs := []anatomy.Input{{Trace: bytes.NewReader(data)}, {Trace: bytes.NewReader(data[len(data)/2:])}}
		a, err := anatomy.Analyze(inputs, anatomy.Options{
			MaxEvents: 1 << 17,
			Each:      func(l breakdown.Timeline) { lines = append(lines, l) },
		})
		if err != nil {
			return
		}
		checkShape(t, a, lines)
		if len(lines) != a.Requests {
			t.Errorf("%d timelines of %d requests", len(lines), a.Requests)
		}
	})
}
