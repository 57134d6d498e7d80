package syntax_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/redline-go/redline/service/syntax"
)

// TestCalls: calls of one function, by the functions around them as stacks name them. Other packages' and methods of its name do not count.
func TestCalls(t *testing.T) {
	file := filepath.Join(t.TempDir(), "p.go")
	const source = `package p
var old = debug.SetGCPercent(20)
func main() {
	func() { debug.SetGCPercent(10) }()
	other.SetGCPercent(1); s.debug.SetGCPercent(1)
}
func (s *server[T]) start() { debug.SetGCPercent(s.percent) }
func (s server) stop() { debug.SetGCPercent(100) }
`
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := syntax.Calls(file, "debug", "SetGCPercent")
	want := []syntax.CallSite{{"init", 2}, {"main", 4}, {"(*server).start", 7}, {"server.stop", 8}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	if _, err := syntax.Calls(file+"x", "debug", "SetGCPercent"); err == nil {
		t.Error("a missing file is no error")
	}
}
