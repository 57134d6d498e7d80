package site

import (
	"strings"
	"testing"

	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
)

// standing makes a stack of frames, innermost first, in the files that packages of the standard library and others have.
func standing(functions string) (frames []code.Frame) {
	for f := range strings.FieldsSeq(functions) {
		pkg := packageOf(f)
		file := "/usr/local/go/src/" + pkg + "/a.go"
		if strings.Contains(pkg, ".") || pkg == "main" {
			file = "/src/" + pkg + "/a.go"
		}
		frames = append(frames, code.Frame{Function: f, File: file, Line: 1})
	}
	return frames
}

const (
	served  = " net/http.HandlerFunc.ServeHTTP net/http.(*conn).serve"
	profile = "runtime.goroutineProfileWithLabelsConcurrent runtime/pprof.(*Profile).WriteTo"
)

// TestStopped: whose call a stop of the world was, by the reasons and stacks of Go 1.21 to 1.26.
func TestStopped(t *testing.T) {
	const probe = " github.com/redline-go/redline/probe/"
	for _, c := range []struct {
		name, reason, stack string
		called              bool
		missing             string
	}{
		{"memory statistics", "read mem stats", "runtime.ReadMemStats main.stats" + served, true, ""},
		{"the caller is innermost", "read mem stats", "main.stats" + served, true, "runtime.ReadMemStats"},
		{"no stack", "read mem stats", "", true, "runtime.ReadMemStats"},
		{"no stack, older words", "all goroutine stack trace", "", true, "runtime.Stack"},
		{"of a reason to come", "reread all", "runtime.Reread main.reread" + served, true, ""},
		{"of a reason to come, no stack", "reread all", "", false, ""},
		{"the standard library's handler", "read mem stats",
			"runtime.ReadMemStats expvar.memstats expvar.Func.String expvar.Handler" + served, true, ""},
		{"below the probe's middleware", "read mem stats",
			"runtime.ReadMemStats main.stats net/http.HandlerFunc.ServeHTTP" + probe + "request.Middleware.func1" + served, true, ""},
		{"the probe", "goroutine profile", profile + probe + "control.profile", false, ""},
		{"net/http/pprof", "all goroutines stack trace",
			"runtime.Stack runtime/pprof.writeGoroutineStacks net/http/pprof.handler.ServeHTTP main.logged.func1" + served, false, ""},
		{"a profile of the program's", "goroutine profile", profile + " main.dump", true, ""},
		{"a profile, no stack", "goroutine profile", "", false, ""},
		{"a trace", "start trace", "runtime.StartTrace runtime/trace.Start main.traced", false, ""},
		{"the runtime alone", "GOMAXPROCS", "runtime.stopTheWorldGC runtime.updateMaxProcsGoroutine", false, ""},
		{"GOMAXPROCS", "GOMAXPROCS", "runtime.stopTheWorldGC runtime.GOMAXPROCS main.main runtime.main", true, ""},
		{"a cycle that is due", "GC sweep termination", "runtime.mallocgc runtime.makeslice main.work" + served, false, ""},
		{"a cycle's end", "GC mark termination", "runtime.gcBgMarkWorker", false, ""},
		{"a cycle's end, no stack", "GC mark termination", "", false, ""},
		{"a forced cycle", "GC sweep termination",
			"runtime.GC runtime/debug.freeOSMemory runtime/debug.FreeOSMemory main.free" + served, true, ""},
		{"whoever ends a cycle", "",
			"runtime.gcMarkTermination runtime.gcMarkDone runtime.gcAssistAlloc runtime.mallocgc main.work" + served, false, ""},
		{"whoever starts the world", "", "runtime.ReadMemStats main.stats" + served, true, ""},
	} {
		if missing, called := Stopped(c.reason, standing(c.stack)); called != c.called || missing != c.missing {
			t.Errorf("%s: called %v, missing %q; want %v, %q", c.name, called, missing, c.called, c.missing)
		}
	}
}

// TestWaitsForTheWorld: a wait for the semaphores around a stop is the program's where it calls for the stop.
func TestWaitsForTheWorld(t *testing.T) {
	for _, c := range []struct {
		stack string
		want  Sync
	}{
		{"runtime.stopTheWorld runtime.ReadMemStats main.stats", SyncCall},
		{"runtime.stopTheWorldGC runtime.GOMAXPROCS main.limit", SyncCall},
		{profile + " main.dump", SyncCall},
		{profile + " net/http/pprof.handler.ServeHTTP", syncOther},
		{"runtime.stopTheWorld runtime.Stack net/http/pprof.handler.ServeHTTP", SyncWorld},
		{"runtime.gcStart runtime.GC main.free", SyncCall},
		{"runtime.gcStart runtime.mallocgc main.work", SyncWorld},
		{"runtime.gcMarkDone runtime.gcAssistAlloc runtime.mallocgc main.work", SyncWorld},
	} {
		if got := SyncOf(standing(c.stack)); got != c.want {
			t.Errorf("%s waits as %d, want %d", c.stack, got, c.want)
		}
	}
	at := standing("runtime.gopark runtime.semacquire1 runtime.semacquire runtime.stopTheWorld runtime.ReadMemStats main.stats")
	if got := Stood(at); got != breakdown.StateStoppedByCall {
		t.Errorf("as a trace begins it is %q", got)
	}
}
