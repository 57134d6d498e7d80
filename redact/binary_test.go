package redact

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"testing"
	"time"
)

// TestTraceKeepsItsForm: the strings of a real trace lose their secrets, the
// trace its length nothing; a trace without secrets stays byte for byte.
func TestTraceKeepsItsForm(t *testing.T) {
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	ctx, task := trace.NewTask(t.Context(), "login?token=hunter2-task")
	trace.Log(ctx, "auth", "password=hunter2-log")
	trace.Log(ctx, "echo", "correct-horse-battery")
	trace.Log(ctx, "redline", "4bf92f3577b34da6a3ce929d0e0e4736")
	trace.WithRegion(ctx, "postgres://u:hunter2-region@h/db", func() {})
	task.End()
	trace.Stop()
	r := New()
	r.Learn("correct-horse-battery")
	clean := r.Trace(b.Bytes())
	if len(clean) != b.Len() {
		t.Fatalf("%d bytes became %d", b.Len(), len(clean))
	}
	for _, secret := range []string{"hunter2", "correct-horse"} {
		if !bytes.Contains(b.Bytes(), []byte(secret)) || bytes.Contains(clean, []byte(secret)) {
			t.Errorf("%q: before %v, after %v", secret, bytes.Contains(b.Bytes(), []byte(secret)), bytes.Contains(clean, []byte(secret)))
		}
	}
	for _, stays := range []string{"4bf92f3577b34da6a3ce929d0e0e4736", "TestTraceKeepsItsForm", "binary_test.go"} {
		if !bytes.Contains(clean, []byte(stays)) {
			t.Errorf("%q is gone", stays)
		}
	}
	if again := r.Trace(clean); !bytes.Equal(again, clean) {
		t.Error("a second pass changed it")
	}
	if !bytes.HasPrefix(clean, []byte("go 1.")) {
		t.Error("no trace any more")
	}
}

// TestTraceKeepsItsFunctions: a program whose password is a word of its own code keeps the names of its functions and
// files, or none of its goroutines would be known; what it logs loses the word.
func TestTraceKeepsItsFunctions(t *testing.T) {
	var b bytes.Buffer
	if err := trace.Start(&b); err != nil {
		t.Fatal(err)
	}
	trace.Log(t.Context(), "echo", "the password is redline-go")
	trace.Stop()
	r := New()
	r.Learn("redline-go")
	clean := r.Trace(b.Bytes())
	name := []byte("github.com/redline-go/redline/redact.TestTraceKeepsItsFunctions")
	if was, is := bytes.Count(b.Bytes(), name), bytes.Count(clean, name); was == 0 || is != was {
		t.Errorf("the function stood there %d times, %d after", was, is)
	}
	if text := []byte("is redline-go"); !bytes.Contains(b.Bytes(), text) || bytes.Contains(clean, text) {
		t.Error("the password stays in a message")
	}
	if len(clean) != b.Len() || !bytes.Equal(r.Trace(clean), clean) {
		t.Error("its length changed, or a second pass changed it")
	}
}

// TestTracesOfOthersStay: real traces of several Go versions hold no secrets, so
// nothing of them may change, least of all the markers of requests.
func TestTracesOfOthersStay(t *testing.T) {
	files, err := filepath.Glob("../anatomy/testdata/*.trace")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d traces: %v", len(files), err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if clean := New().Trace(data); !bytes.Equal(clean, data) {
			t.Errorf("%s was changed", file)
		}
		t.Logf("%s: %d bytes in %v", file, len(data), time.Since(begun))
	}
}

func TestProfileLabels(t *testing.T) {
	var b bytes.Buffer
	// A goroutine profile has labels without any load.
	done, started := make(chan struct{}), make(chan struct{})
	go pprof.Do(t.Context(), pprof.Labels("session", "hunter2-name", "note", "Bearer hunter2-form99", "echo",
		"correct-horse-battery", "route", "GET /a"), func(context.Context) {
		close(started)
		<-done
	})
	<-started
	defer close(done)
	if err := pprof.Lookup("goroutine").WriteTo(&b, 0); err != nil {
		t.Fatal(err)
	}
	r := New()
	r.Learn("correct-horse-battery")
	clean := r.Profile(b.Bytes())
	before, err := readProfile(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	after, err := readProfile(clean)
	if err != nil {
		t.Fatal(err)
	}
	if text := before.String(); !strings.Contains(text, "hunter2-name") {
		t.Skip("this Go keeps no labels in goroutine profiles: ", text[:min(len(text), 200)])
	}
	text := after.String()
	for _, secret := range []string{"hunter2", "correct-horse"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in %s", secret, text)
		}
	}
	if !strings.Contains(text, "GET /a") || len(after.Sample) != len(before.Sample) || len(after.Function) != len(before.Function) {
		t.Errorf("%d samples of %d functions became %d of %d", len(before.Sample), len(before.Function),
			len(after.Sample), len(after.Function))
	}
	if again := r.Profile(clean); !bytes.Equal(again, clean) {
		t.Error("a second pass changed it")
	}
	if odd := []byte("not a profile, correct-horse-battery"); bytes.Contains(r.Profile(odd), []byte("correct-horse")) {
		t.Error("a value stands in what is no profile")
	}
}
