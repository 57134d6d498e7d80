package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// recorded is what `go test -json -timeout 3s ./...` wrote about nine packages: one
// that passes and skips, and one for each way to fail. testdata/run.txt is what go
// test itself prints of them, less what passing tests of failing packages print.
func recorded(t *testing.T) []byte {
	t.Helper()
	content, err := os.ReadFile("testdata/run.json")
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestFollow(t *testing.T) {
	want, err := os.ReadFile("testdata/run.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	results, err := follow(bytes.NewReader(recorded(t)), &out)
	if err == nil {
		t.Error("failures are no error")
	}
	if out.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	skipped := map[string]string{}
	for _, r := range results {
		for _, s := range r.Skipped {
			skipped[s.Test] = s.Reason
		}
	}
	if len(results) != 9 || len(skipped) != 2 || skipped["TestSkips"] != "no PostgreSQL here" || skipped["TestNested/one"] != "needs root" {
		t.Errorf("%d packages, skipped %q", len(results), skipped)
	}
}

// TestCut: go test itself is killed, wherever it is. Nothing that came is lost, and it
// is no success.
func TestCut(t *testing.T) {
	passing, _, found := strings.Cut(string(recorded(t)), `"Action":"pass","Package":"example.com/shop/passes","Elapsed"`)
	if !found {
		t.Fatal("the package that passes is not recorded")
	}
	// Only the package that was passing, so that no other's failure decides.
	var only []string
	for line := range strings.Lines(passing) {
		if strings.Contains(line, `"example.com/shop/passes"`) {
			only = append(only, line)
		}
	}
	for n := 1; n <= len(only); n++ {
		var out strings.Builder
		_, err := follow(strings.NewReader(strings.Join(only[:n], "")), &out)
		if err == nil || !strings.Contains(out.String(), "FAIL\texample.com/shop/passes [go test ended before it did]\n") {
			t.Fatalf("after %d events: %v\n%s", n, err, &out)
		}
	}
	var out strings.Builder
	if _, err := follow(strings.NewReader("warning: no event\n"+`{"Action":"sta`), &out); err != nil ||
		out.String() != "warning: no event\n"+`{"Action":"sta` {
		t.Errorf("%v, printed %q", err, &out)
	}
}

func TestSummary(t *testing.T) {
	kept := filepath.Join(t.TempDir(), "kept")
	for _, r := range []result{
		{Package: "a", Seconds: 2, Ran: 3, Skipped: []skip{{"TestX", "no perf here"}}},
		{Package: "b", Seconds: 5, Ran: 1, Long: []long{{"TestW", 1.5}, {"TestV", 4}}, Skipped: []skip{{"TestY", "needs root"}, {"TestZ", "needs root"}}},
	} {
		if err := keep(kept, []result{r}); err != nil {
			t.Fatal(err)
		}
	}
	results, err := readKept(kept)
	if err != nil {
		t.Fatal(err)
	}
	perf := []*regexp.Regexp{regexp.MustCompile("^no perf")}
	var out strings.Builder
	if err := summarise(&out, results, perf, true); err == nil || !strings.Contains(err.Error(), "2 tests") {
		t.Errorf("unlisted skips: %v", err)
	}
	for _, want := range []string{"  needs root [not listed]\n    b.TestY\n    b.TestZ\n",
		"  no perf here\n    a.TestX\n", "\n4 tests ran, 3 were skipped, 2 of those for a reason that is not listed\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if !strings.Contains(out.String(), "slowest tests:\n     4.0 s  b.TestV\n     1.5 s  b.TestW\n") {
		t.Errorf("the slowest tests are not named:\n%s", &out)
	}
	if strings.Index(out.String(), "5.0 s  b") > strings.Index(out.String(), "2.0 s  a") {
		t.Errorf("the slowest is not first:\n%s", &out)
	}
	if err := summarise(&out, results, perf, false); err != nil {
		t.Errorf("outside of CI: %v", err)
	}
	if err := summarise(&out, results, append(perf, regexp.MustCompile("^needs root$")), true); err != nil {
		t.Errorf("all are listed: %v", err)
	}
}

// TestReasons reads the list that CI uses.
func TestReasons(t *testing.T) {
	allowed, err := readReasons("../skips.txt")
	if err != nil || len(allowed) == 0 {
		t.Fatalf("%d reasons: %v", len(allowed), err)
	}
	for _, must := range []string{"no PostgreSQL here: x", "no PgBouncer on this machine: x",
		"redis-server is not installed (hint: x)", "no Chromium (apt-get install chromium)",
		"needs root, to make namespaces", "no reason given", "-short: a service and a database are started"} {
		for _, re := range allowed {
			if re.MatchString(must) {
				t.Errorf("%s lets CI skip for %q", re, must)
			}
		}
	}
}
