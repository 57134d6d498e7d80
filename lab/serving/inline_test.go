package serving_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redline-go/redline/lab/micro"
)

// compile builds the work of testdata/inline with flags of its own.
func compile(tb testing.TB, flags ...string) string {
	tb.Helper()
	if _, err := exec.LookPath("go"); err != nil {
		tb.Skipf("%v (hint: the go command on PATH)", err)
	}
	path := filepath.Join(tb.TempDir(), "inline")
	cmd := exec.Command("go", append(append([]string{"build", "-o", path}, flags...), "./testdata/inline")...)
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return path
}

// days of the work take about 10 ms.
const days = 1000

// worked runs the work, and returns its checksum and nanoseconds.
func worked(tb testing.TB, path string, args ...string) (sum, ns int) {
	tb.Helper()
	out, err := exec.Command(path, append([]string{fmt.Sprint(days)}, args...)...).CombinedOutput()
	if err != nil {
		tb.Fatalf("%v: %s", err, out)
	}
	if _, err := fmt.Sscan(string(out), &sum, &ns); err != nil {
		tb.Fatalf("%q: %v", out, err)
	}
	return sum, ns
}

const profile = "-pgo=testdata/inline/cpu.pprof"

// BenchmarkPGO runs work that was compiled without a profile, or with its own.
// BenchmarkInlineFlag compiles it with the claim's flag, whose levels above 1 are for the
// compiler's own developers.
func BenchmarkPGO(b *testing.B)        { built(b, micro.Of("-pgo=off", profile)) }
func BenchmarkInlineFlag(b *testing.B) { built(b, "-pgo=off", micro.Of("-gcflags=", "-gcflags=-l=4")) }

func built(b *testing.B, flags ...string) {
	path, all := compile(b, flags...), 0
	for b.Loop() {
		_, ns := worked(b, path)
		all += ns
	}
	b.ReportMetric(float64(all)/float64(b.N), "ns/op") // of the work, without the process
}

// TestInline: however it is compiled, the work comes to the same. With UPDATE=1 the profile
// is taken anew.
func TestInline(t *testing.T) {
	plain := compile(t, "-pgo=off")
	if os.Getenv("UPDATE") != "" {
		worked(t, plain, filepath.Join("testdata", "inline", "cpu.pprof"))
	}
	want, _ := worked(t, plain)
	for _, flags := range []string{profile, "-gcflags=-l=4", "-gcflags=-l"} {
		if sum, _ := worked(t, compile(t, flags)); sum != want {
			t.Errorf("%s: %d, want %d", flags, sum, want)
		}
	}
}
