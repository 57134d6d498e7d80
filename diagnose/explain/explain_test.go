package explain

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/redline-go/redline/diagnose"
)

func suite() []diagnose.Analyzer {
	lock := diagnose.Cause{
		ID: "lock-contention", Title: "Requests wait for a mutex.", Doc: strings.Repeat("They queue. ", 30),
		Knows: "From the trace.", Remedy: "Hold it for less.",
		Example: diagnose.Example{Lang: "go", Before: "\n\t\tmu.Lock()\n\t\t\twrite()\n\n\t\tmu.Unlock()\n\t", After: "write()"},
		Verify:  "redline run again", Cases: []string{"ledger-mutex"},
	}
	bare := diagnose.Cause{ID: "fd-limit", Title: "Descriptors run out", Doc: "EMFILE.", Remedy: "Raise it."}
	return []diagnose.Analyzer{
		{Name: "lock", Doc: "Reads the anatomy.", Stage: diagnose.Wait, Causes: []diagnose.Cause{lock}},
		{Name: "fd", Doc: "Compares with 90 %.", Stage: diagnose.Host, Causes: []diagnose.Cause{bare}},
	}
}

// TestText: parts in a reader's order, prose wrapped, code unchanged, and nothing that the
// cause does not say.
func TestText(t *testing.T) {
	pages := Of(suite())
	page, ok := pages.Find("lock-contention")
	if !ok {
		t.Fatal("no page")
	}
	text := page.Text(70)
	at := 0
	for _, want := range []string{"lock-contention: Requests wait for a mutex\n", "How it looks\n  They queue.",
		"How redline knows\n  From the trace.", "What to do\n",
		"Before\n  mu.Lock()\n      write()\n\n  mu.Unlock()\n", "After\n  write()", "How to verify\n"} {
		i := strings.Index(text[at:], want)
		if i < 0 {
			t.Fatalf("no %q in its place in\n%s", want, text)
		}
		at += i
	}
	for line := range strings.SplitSeq(text, "\n") {
		if ansi.StringWidth(line) > 70 || strings.HasSuffix(line, " ") {
			t.Errorf("line %q", line)
		}
	}
	if strings.Contains(text, "ledger-mutex") {
		t.Error("the services of the corpus are of no use to a user")
	}
	bare, _ := pages.Find("fd-limit")
	if text := bare.Text(70); strings.Contains(text, "Before") || !strings.Contains(text, "How redline knows\n  Compares with 90 %.") {
		t.Errorf("a cause with little to say:\n%s", text)
	}
	if _, ok := pages.Find("none"); ok {
		t.Error("found a cause that is not there")
	}
}

// TestNamesAreWhole: a cause's name stays on one line, so that it can be copied and found.
func TestNamesAreWhole(t *testing.T) {
	cause := diagnose.Cause{ID: "alloc-hot", Title: "One place allocates most", Doc: "Much.", Remedy: "Less.",
		FollowsFrom: []string{"db-n-plus-one", "cpu-regexp-compile", "cpu-template-parse", "cpu-json", "downstream-slow", "cpu-reflect",
			"db-writer-lock", "cache-useless"}}
	page := Page{Cause: cause}
	for width := 60; width < 100; width++ {
		text := page.Text(width)
		for _, name := range cause.FollowsFrom {
			if !strings.Contains(text, name) {
				t.Errorf("%s is broken at a width of %d:\n%s", name, width, text)
			}
		}
	}
}

func TestMarkdown(t *testing.T) {
	page, _ := Of(suite()).Find("lock-contention")
	if text := page.Markdown(); !strings.Contains(text,
		"## Before\n\n```go\nmu.Lock()\n\twrite()\n\nmu.Unlock()\n```\n") || !strings.HasPrefix(text, "# lock-contention\n") ||
		!strings.HasSuffix(text, "## Test services that set its thresholds (corpus/)\n\nledger-mutex\n") {
		t.Errorf("page:\n%s", text)
	}
}

// TestList: the host is judged before waits, whatever the suite's order.
func TestList(t *testing.T) {
	pages := Of(suite())
	want := "The host and its limits\n  fd-limit         Descriptors run out\n\n" +
		"Waiting within the service and for other services\n  lock-contention  Requests wait for a mutex\n"
	if got := pages.List(80); got != want {
		t.Errorf("list:\n%s", got)
	}
	if index := pages.Index(); !strings.Contains(index, "- [fd-limit](causes/fd-limit.md): Descriptors run out\n") {
		t.Errorf("index:\n%s", index)
	}
	if ids := pages.IDs(); len(ids) != 2 || ids[0] != "fd-limit" {
		t.Errorf("ids %q", ids)
	}
}
