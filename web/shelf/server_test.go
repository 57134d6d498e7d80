package shelf

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/database"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/report/reporttest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// stock makes a directory of runs: whole ones, and one of each kind that is wrong.
func stock(t testing.TB, o reporttest.Options) string {
	t.Helper()
	dir := t.TempDir()
	for name, options := range map[string]reporttest.Options{"compared-a": o, "compared-b": o, "killed": {Killed: true, Bare: true}} {
		must(t, os.Rename(reporttest.Bundle(t, options).Dir, filepath.Join(dir, name)))
	}
	for name, found := range map[string][]findings.Finding{"compared-a": {{Title: "a needle"}}, "compared-b": {}} {
		must(t, disk.WriteJSON(filepath.Join(dir, name), findings.File, findings.Findings{Findings: found}))
	}
	for name, run := range map[string]string{
		"damaged": `{"schema": tru`, "older": `{"schema": "redline.run/0", "state": "complete"}`,
		"running": `{"schema": "redline.run/1", "state": "running", "window_ns": 100000000}`,
		"torn":    `{"schema": "redline.run/1", "state": "complete", "window_ns": 100000000}`,
	} {
		must(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		must(t, os.WriteFile(filepath.Join(dir, name, "run.json"), []byte(run), 0o600))
	}
	must(
		t,
		os.WriteFile(
			filepath.Join(dir, "torn", "summary.json"),
			[]byte(`{"schema": "redline.summary/1", "load": {"requests":`),
			0o600,
		),
	)
	must(t, os.Mkdir(filepath.Join(dir, "no-bundle"), 0o700))
	return dir
}

func serve(t testing.TB, dir, address, token string) *Server {
	t.Helper()
	s, err := Listen(t.Context(), dir, address, token)
	must(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error)
	go func() { done <- s.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-done)
	})
	return s
}

func get(t testing.TB, client *http.Client, url string) (int, string) {
	t.Helper()
	r, err := client.Get(url)
	must(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	must(t, err)
	return r.StatusCode, string(body)
}

func TestListSaysWhatIsWrong(t *testing.T) {
	s := serve(t, stock(t, reporttest.Options{}), "127.0.0.1:0", "")
	status, body := get(t, http.DefaultClient, s.URL()+"runs.json")
	var all []Run
	must(t, json.Unmarshal([]byte(body), &all))
	got := map[string]string{}
	for _, r := range all {
		got[r.ID] = r.State
		if r.State != string(record.Complete) && r.Why == "" {
			t.Errorf("%s is %s without a reason", r.ID, r.State)
		}
	}
	want := map[string]string{"compared-a": "complete", "compared-b": "complete", "killed": "aborted", "damaged": damaged,
		"older": older, "running": unfinished, "torn": damaged}
	if status != 200 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%d: %v, want %v", status, got, want)
	}
	i := slices.IndexFunc(all, func(r Run) bool { return r.ID == "compared-a" })
	if r := all[i]; r.Rate != 2070.73 || r.P99 != 91_000_000 || r.Finding != "a needle" || !r.Failed {
		t.Errorf("%+v", r)
	}
}

// TestOnlyAJudgedRunHasNothingFound: the list claims nothing about a run without findings, or with some that do not parse.
func TestOnlyAJudgedRunHasNothingFound(t *testing.T) {
	dir := stock(t, reporttest.Options{})
	if r := read(dir, "compared-b"); r.State != string(record.Complete) || r.Findings != 0 {
		t.Errorf("with a list of none: %+v", r)
	}
	file := filepath.Join(dir, "compared-b", findings.File)
	must(t, os.WriteFile(file, []byte(`{"findings": [{"title"`), 0o600))
	if r := read(dir, "compared-b"); r.State != damaged || !strings.Contains(r.Why, findings.File) {
		t.Errorf("with a damaged list: %+v", r)
	}
	must(t, os.Remove(file))
	if r := read(dir, "compared-b"); r.State != unjudged || r.Why == "" || r.Rate == 0 {
		t.Errorf("without one: %+v", r)
	}
}

// TestEveryRunHasAPage: even one that is damaged, and one that does not exist.
func TestEveryRunHasAPage(t *testing.T) {
	s := serve(t, stock(t, reporttest.Options{}), "127.0.0.1:0", "")
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"":                                  {200, "id=\"app\""},
		"run/compared-a/":                   {200, "id=\"app\""},
		"run/killed/":                       {200, "id=\"app\""},
		"run/running/":                      {200, "id=\"app\""},
		"run/damaged/":                      {422, "invalid character"},
		"run/older/":                        {422, "redline.run/0"},
		"run/torn/":                         {422, "cannot be read"},
		"run/none/":                         {404, "No such run"},
		"run/..%2f..%2fetc/":                {404, "No such run"},
		"run/no-bundle/":                    {404, "No such run"},
		"x":                                 {404, "nothing here"},
		"compare?a=compared-a&b=compared-b": {200, "id=\"app\""},
		"compare?a=compared-a&b=":           {404, "No such run"},
		"compare?a=killed&b=running":        {200, "id=\"app\""},
	} {
		if status, body := get(t, http.DefaultClient, s.URL()+path); status != want.status || !strings.Contains(body, want.text) {
			t.Errorf("%q: %d, want %d with %q: %.300s", path, status, want.status, want.text, body)
		}
	}
}

// TestPageFollowsTheBundle: a run that changes while it is shown gets a new page.
func TestPageFollowsTheBundle(t *testing.T) {
	dir := stock(t, reporttest.Options{})
	s := serve(t, dir, "127.0.0.1:0", "")
	_, before := get(t, http.DefaultClient, s.URL()+"run/compared-a/")
	summary := reporttest.Healthy()
	must(t, disk.WriteJSON(filepath.Join(dir, "compared-a"), record.SummaryFile, summary))
	_, after := get(t, http.DefaultClient, s.URL()+"run/compared-a/")
	if !strings.Contains(before, "Requests wait for a database connection") ||
		strings.Contains(after, "Requests wait for a database connection") {
		t.Error("the page is not that of the summary as it is")
	}
	address := s.URL() + "run/running/"
	_, early := get(t, http.DefaultClient, address)
	if _, again := get(t, http.DefaultClient, address); again != early {
		t.Fatal("the same bundle makes two pages")
	}
	statements := database.Statements{Database: "orders"} // what none of the list's figures comes from
	must(t, disk.WriteJSON(filepath.Join(dir, "running"), database.File, statements))
	if _, late := get(t, http.DefaultClient, address); late == early {
		t.Error("the page of a run in progress stays as it was first seen")
	}
	must(t, os.RemoveAll(filepath.Join(dir, "compared-a")))
	if status, _ := get(t, http.DefaultClient, s.URL()+"run/compared-a/"); status != 404 {
		t.Errorf("a run that was removed: %d", status)
	}
}
