package synthetic

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
)

// TestWrite writes twenty minutes: the record is a long one, and its requests are
// all there.
func TestWrite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "bundle")
	const length, rate = 20 * time.Minute, 100
	if err := Write(dir, Options{Length: length, Rate: rate, Values: 300, Statements: 2, CPUProfile: time.Minute}); err != nil {
		t.Fatal(err)
	}
	rec, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(rec.Thinned()) == 0 || len(rec.Run.Resolution) == 0 {
		t.Error("twenty minutes are not thinned")
	}
	h, err := rec.Histogram("", histogram.Latency, rec.Run.Steady)
	if err != nil {
		t.Fatal(err)
	}
	const want = int64(rate * length / time.Second)
	if sum, _ := rec.Series(series.LoadRequests, "", rec.Run.Steady).Sum(); int64(sum) != want || h.TotalCount() != want {
		t.Errorf("%v requests in the windows and %d in the log, want %d", sum, h.TotalCount(), want)
	}
}
