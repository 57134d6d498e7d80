package diagnose_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/statement"
	"github.com/redline-go/redline/record/timebase"
)

// TestFindingsHaveAnExample: findings about slow requests name the trace of one,
// with the finding's statement if it has one.
func TestFindingsHaveAnExample(t *testing.T) {
	const ms, query = time.Millisecond, "SELECT * FROM orders WHERE id = $1"
	clock, err := timebase.Start()
	if err != nil {
		t.Fatal(err)
	}
	w, err := record.Create(filepath.Join(t.TempDir(), "b"), record.Run{Clock: clock, Window: 100 * ms})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		w.Slow(record.SlowRequest{Done: 900 * ms, ID: 1, TraceID: "slowest"}, record.SlowRequest{Done: 300 * ms, ID: 2, TraceID: "with-query"}),
		w.Spans(
			record.TraceSpan{Trace: "slowest", ID: "1", Service: "shop", Name: "GET /", From: 10 * ms, To: 890 * ms},
			record.TraceSpan{Trace: "with-query", ID: "2", Service: "shop", Name: "GET /orders", From: 10 * ms, To: 290 * ms},
			record.TraceSpan{Trace: "with-query", ID: "3", Parent: "2", Name: "query", From: 20 * ms,
				To: 120 * ms, Statement: statement.Key(query)}),
		w.Close(record.Complete, ""),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	rec, err := record.Open(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	about := func(name, of, sql string) diagnose.Analyzer {
		a := finds(name, cause(name), 2, findings.High)
		run := a.Run
		a.Run = func(p *diagnose.Pass) ([]diagnose.Finding, error) {
			found, err := run(p)
			found[0].ShareOf, found[0].Where.SQL = of, sql
			return found, err
		}
		return a
	}
	out, err := diagnose.Run(rec, nil, []diagnose.Analyzer{
		about("tail", diagnose.OfTail, ""), about("query", diagnose.OfRequest, "select * from orders where id = 7"),
		about("elsewhere", diagnose.OfRequest, "SELECT 1"), about("cpu", diagnose.OfCPU, ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"tail":      "for example, in trace slowest request 1 took 900 ms, 880 ms of it in GET / (shop)",
		"query":     "for example, in trace with-query request 2 took 300 ms, 100 ms of it in query",
		"elsewhere": "", "cpu": "",
	}
	for _, f := range out.Findings {
		last := f.Evidence[len(f.Evidence)-1]
		if example := want[f.Cause]; example == "" && strings.Contains(last.Text, "trace") || example != "" &&
			(last.Text != example || last.Source != diagnose.FromSpans) {
			t.Errorf("%s: %+v, want %q", f.Cause, last, example)
		}
		delete(want, f.Cause)
	}
	if len(want) > 0 {
		t.Errorf("no findings of %v", want)
	}
}
