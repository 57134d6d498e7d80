package suite_test

import (
	"strings"
	"testing"
	"time"

	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/suite"
)

// TestJoinedStrings: a text that + makes longer and longer is about memory, and one finding says so; short texts that are joined are
// formatting.
func TestJoinedStrings(t *testing.T) {
	const s, user = time.Second, "shop/web.csv@web.go:70"
	join := []string{"runtime.concatstrings", "runtime.concatstring3", user}
	service := func(size int64) *Builder {
		b := New(8, time.Millisecond).CPU(2, 1.9, 1.8, 0.1, -1).Sample(3*s, append([]string{"runtime.memmove"}, join...)...)
		b.Sample(s, append([]string{"runtime.mallocgc", "runtime.rawstring"}, join...)...).Sample(2*s, "shop/web.total@web.go:80")
		b.Background(3*s, "runtime.gcDrain", "runtime.gcBgMarkWorker")
		return b.Alloc(90<<30/size, 90<<30, user).Alloc(10, 10<<30, "shop/web.total@web.go:80")
	}
	found := ExpectFirst(t, suite.All(), service(20<<10), "alloc-hot")
	for _, f := range found.Findings {
		if f.Cause == "cpu-format" {
			t.Error("the joining is reported twice: ", f.Title)
		}
	}
	if f := found.Findings[0]; !strings.Contains(f.Remedy, "strings.Builder") || !strings.Contains(f.Title, "joining strings with +") ||
		f.Where.Function != "shop/web.csv" || f.Share < 0.7 || strings.Contains(f.Title, "formatting") {
		t.Errorf("%q, share %.2f, remedy %q", f.Title, f.Share, f.Remedy)
	}
	ExpectFirst(t, suite.All(), service(100), "cpu-format")
}
