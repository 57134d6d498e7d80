package redact

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"
)

// TestProfileBounds: small files that would become large profiles.
func TestProfileBounds(t *testing.T) {
	for name, unit := range map[string][]byte{
		"samples": {0x12, 0}, "mappings": {0x1a, 0}, "locations": {0x22, 0}, "functions": {0x2a, 0}, "strings": {0x32, 0},
		"labels": {0x12, 4, 0x1a, 0, 0x1a, 0}, "lines": {0x22, 4, 0x22, 0, 0x22, 0},
		"stacks": append([]byte{0x12, 102, 0x0a, 100}, bytes.Repeat([]byte{1}, 100)...),
		"values": append([]byte{0x12, 102, 0x12, 100}, bytes.Repeat([]byte{1}, 100)...),
	} {
		var bomb bytes.Buffer
		w := gzip.NewWriter(&bomb)
		size := 4 << 20
		if len(unit) > 100 {
			size = 5 << 20 // numbers, of which more are allowed
		}
		if _, err := w.Write(bytes.Repeat(unit, size/len(unit))); err != nil {
			t.Fatal(err)
		}
		w.Close()
		if _, _, err := ParseProfile(bomb.Bytes()); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %v", name, err)
		}
		if name != "samples" {
			continue
		}
		// The redactor is the first to read a profile of a target.
		if n := testing.AllocsPerRun(1, func() { New().Profile(bomb.Bytes()) }); n > 10_000 {
			t.Errorf("the redactor made %.0f objects of %d bytes", n, bomb.Len())
		}
	}
}
