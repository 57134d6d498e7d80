package service

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/scenario"
)

const gcText = "gc 7 @0.101s 2%: 0.01+0.3+0.002 ms clock, 0.02+0.1/0.2/0.3+0.004 ms cpu, 4->5->2 MB, 5 MB goal, 0 " +
	"MB stacks, 0 MB globals, 2 P"

func TestGCLinesAreTakenOut(t *testing.T) {
	long := "gc 1 @" + strings.Repeat("9", 2*gcWidth)
	written := []string{
		"listening\n", gcText + "\n", "gc", " is a word\n", "gc 5 cars\n", "g\n", "\n",
		gcText[:1], gcText[1:9], gcText[9:], "\n", long + "\n", "no end",
	}
	rest := "listening\ngc is a word\ngc 5 cars\ng\n\n" + long + "\nno end"
	for _, asked := range []bool{true, false} {
		for _, size := range []int{1, 3, 1 << 20} {
			var out bytes.Buffer
			g := &gcLines{next: &out, asked: asked}
			for chunk := range slices.Chunk([]byte(strings.Join(written, "")), size) {
				if n, err := g.Write(chunk); n != len(chunk) || err != nil {
					t.Fatal(n, err)
				}
			}
			want := rest
			if !asked {
				want = strings.Join(written, "")
			}
			if out.String() != want {
				t.Errorf("asked %t, chunks of %d: %q", asked, size, out.String())
			}
			for range 2 {
				if came, line, ok := g.read(); !ok || line != gcText || came.IsZero() {
					t.Errorf("asked %t, chunks of %d: line %q, %t", asked, size, line, ok)
				}
			}
			if _, line, ok := g.read(); ok {
				t.Errorf("another line: %q", line)
			}
		}
	}
}

func TestGCLinesAreBounded(t *testing.T) {
	g := &gcLines{next: &bytes.Buffer{}, asked: true}
	for range 3 * gcQueue {
		if _, err := g.Write([]byte(gcText + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	if len(g.lines) > gcQueue {
		t.Errorf("%d lines are kept for nobody", len(g.lines))
	}
}

func FuzzGCLines(f *testing.F) {
	f.Add([]byte(gcText+"\nout of luck\n"), 7)
	f.Add([]byte("gc\ngc \ngc 1"), 1)
	f.Fuzz(func(t *testing.T, data []byte, size int) {
		if size < 1 || len(data) > 1<<16 {
			return
		}
		var out bytes.Buffer
		g := &gcLines{next: &out, asked: true}
		for chunk := range slices.Chunk(data, size) {
			if n, err := g.Write(chunk); n != len(chunk) || err != nil {
				t.Fatal(n, err)
			}
		}
		_, _ = g.Write([]byte("\n"))
		var want []byte
		for line := range bytes.Lines(append(bytes.Clone(data), '\n')) {
			if len(line) > gcWidth || !mightBeGC(bytes.TrimSuffix(line, []byte("\n"))) || !bytes.Contains(line, []byte(" ms clock, ")) {
				want = append(want, line...)
			}
		}
		if len(g.partial) > gcWidth || !bytes.Equal(out.Bytes(), want) {
			t.Fatalf("%q becomes %q", data, out.Bytes())
		}
	})
}

func TestGCTraceIsAskedFor(t *testing.T) {
	t.Setenv("GODEBUG", "madvdontneed=1")
	sh := []string{"sh", "-c", "true"}
	for name, test := range map[string]struct {
		command, added []string
		godebug        string // as it is added; "" for none
		watched        bool
	}{
		"any command":       {sh, nil, "GODEBUG=madvdontneed=1,gctrace=1", true},
		"with settings":     {sh, []string{"GODEBUG=a=1"}, "GODEBUG=a=1,gctrace=1", true},
		"empty settings":    {sh, []string{"GODEBUG="}, "GODEBUG=gctrace=1", true},
		"asked by user":     {sh, []string{"GODEBUG=a=1,gctrace=1"}, "GODEBUG=a=1,gctrace=1", true},
		"forbidden by user": {sh, []string{"GODEBUG=gctrace=0"}, "GODEBUG=gctrace=0", true},
		"the go command":    {[]string{"go", "run", "."}, nil, "", false},
		"no such command":   {[]string{"no-such-command-anywhere"}, nil, "", false},
	} {
		g, added := gcTrace(test.command, test.added)
		last := ""
		if len(added) > 0 {
			last = added[len(added)-1]
		}
		if (g != nil) != test.watched || last != test.godebug {
			t.Errorf("%s: watched %t, environment %q", name, g != nil, added)
		}
	}
}

// TestExecOfAGoProgramPrintsItsCollections starts a program without a probe,
// whose end must be reported without the lines that only redline asked for.
func TestExecOfAGoProgramPrintsItsCollections(t *testing.T) {
	collecting := strings.Replace(service, `http.HandleFunc("/die"`, `http.HandleFunc("/gc", func(http.ResponseWriter, *http.Request) { runtime.GC() })
	http.HandleFunc("/die"`, 1)
	collecting = strings.Replace(collecting, `	"os"`, `	"os"
	"runtime"`, 1)
	pkg, address := module(t, collecting), freeAddress(t)
	binary := filepath.Join(t.TempDir(), "svc")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Dir = pkg
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	o := options(t, address, scenario.Target{Exec: []string{binary}, Env: map[string]string{"ADDR": address}})
	var forwarded bytes.Buffer
	o.Stderr = &forwarded
	svc, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer svc.End()
	read := svc.GCTrace()
	if read == nil {
		t.Fatal("its collections are not printed")
	}
	get := func(path string) {
		if response, err := http.Get("http://" + address + "/" + path); err == nil {
			response.Body.Close()
		}
	}
	get("gc")
	// The runtime writes the line in pieces, maybe only after runtime.GC has returned:
	// the service's own last words could come in the middle of it.
	var last string
	for deadline := time.Now().Add(5 * time.Minute); !strings.HasSuffix(last, "(forced)"); {
		if time.Now().After(deadline) {
			t.Fatalf("the collection was not printed; last line %q", last)
		}
		if _, line, ok := read(); ok {
			last = line
		} else {
			time.Sleep(time.Millisecond) // nothing announces a line
		}
	}
	get("die")
	<-svc.Exited()
	if exit := svc.Exit(o.Clock); exit == nil || !slices.Equal(exit.Stderr, []string{"out of luck"}) {
		t.Errorf("exit %+v", exit)
	}
	if !strings.Contains(forwarded.String(), "(forced)") {
		t.Errorf("the output that the user asked to see lacks them: %q", forwarded.String())
	}
}

// TestBuildOfAProgramThatImportsTheProbe builds it without a second one.
func TestBuildOfAProgramThatImportsTheProbe(t *testing.T) {
	checkout, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	importing := strings.Replace(service, `	"os"`, `	"os"
	_ "github.com/redline-go/redline/probe/pool"`, 1)
	pkg, address := module(t, importing), freeAddress(t)
	mod := filepath.Join(pkg, "../../go.mod")
	text := "module example.com/svc\n\ngo 1.26.0\n\nrequire github.com/redline-go/redline v0.0.0\n\nreplace " +
		"github.com/redline-go/redline => " + checkout + "\n"
	if err := os.WriteFile(mod, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if !importsProbe(t.Context(), mainPackage{Dir: pkg}, t.TempDir()) {
		t.Error("its import is not seen")
	}
	svc, err := Start(t.Context(), options(t, address, scenario.Target{Build: pkg, Env: map[string]string{"ADDR": address}}))
	if err != nil {
		t.Fatal(err)
	}
	defer svc.End()
	if !svc.Info().Probe {
		t.Errorf("the probe is not there: %+v", svc.Info())
	}
}
