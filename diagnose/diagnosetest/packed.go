package diagnosetest

import (
	"testing"

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/breakdown"
)

// Packed is a bundle's file, written by corpus.Pack.
type Packed string

// Open unpacks the bundle into a folder of the test and opens it.
func (p Packed) Open(t testing.TB) (*record.Record, *breakdown.Anatomy) {
	t.Helper()
	dir := t.TempDir()
	if err := corpus.Unpack(string(p), dir); err != nil {
		t.Fatal(err)
	}
	return Dir(dir).Open(t)
}
