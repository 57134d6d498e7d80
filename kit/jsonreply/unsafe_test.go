package jsonreply_test

// The form of the field reports, shown failing: a view of a pooled buffer that outlives
// its release.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/redline-go/redline/kit/jsonreply"
)

var literalPool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// literal encodes as the reports have it: without a copy, through a pooled buffer.
func literal(value any) (string, error) {
	b := literalPool.Get().(*bytes.Buffer)
	defer literalPool.Put(b)
	b.Reset()
	if err := json.NewEncoder(b).Encode(value); err != nil {
		return "", err
	}
	return unsafe.String(unsafe.SliceData(b.Bytes()), b.Len()), nil
}

// answers has 8 handlers answer requests, and counts answers with wrong bytes.
func answers(reply func(w *httptest.ResponseRecorder, value answer) error) (wrong int64, err error) {
	var count atomic.Int64
	var first atomic.Pointer[error]
	var wg sync.WaitGroup
	for handler := range 8 {
		wg.Go(func() {
			for n := range 400 {
				value := of(handler*1000+n, 500)
				w := httptest.NewRecorder()
				if err := reply(w, value); err != nil {
					first.CompareAndSwap(nil, &err)
					return
				}
				want, _ := json.Marshal(value)
				if got := bytes.TrimSuffix(w.Body.Bytes(), []byte("\n")); !bytes.Equal(got, want) {
					count.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if e := first.Load(); e != nil {
		err = *e
	}
	return count.Load(), err
}

// TestViewOfARecycledBufferIsOverwritten: two answers one after the other are enough.
func TestViewOfARecycledBufferIsOverwritten(t *testing.T) {
	for range 1000 { // under the race detector a sync.Pool forgets at random
		first, err := literal(of(1, 100))
		if err != nil {
			t.Fatal(err)
		}
		before := strings.Clone(first)
		if _, err := literal(of(2, 100)); err != nil {
			t.Fatal(err)
		}
		if first != before {
			t.Logf("the first answer, %.40q, became %.40q", before, first)
			return
		}
	}
	t.Error("the view was never overwritten: doc.go warns of nothing")
}

// TestRaceDetectorOnBothForms runs this test's binary twice more: the literal form must
// be found racing, and ours must not, under the same load.
func TestRaceDetectorOnBothForms(t *testing.T) {
	switch os.Getenv("JSONREPLY_FORM") {
	case "literal":
		wrong, err := answers(func(w *httptest.ResponseRecorder, value answer) error {
			body, err := literal(value)
			if err != nil {
				return err
			}
			runtime.Gosched() // another request runs before this one is written
			_, err = w.WriteString(body)
			return err
		})
		fmt.Println("wrong answers:", wrong, err)
		return
	case "ours":
		wrong, err := answers(func(w *httptest.ResponseRecorder, value answer) error {
			return jsonreply.Write(w, http.StatusOK, value)
		})
		if wrong != 0 || err != nil {
			t.Errorf("%d wrong answers, %v", wrong, err)
		}
		return
	}
	if !raceEnabled {
		t.Skip("without -race there is no race detector to ask")
	}
	for form, races := range map[string]bool{"literal": true, "ours": false} {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestRaceDetectorOnBothForms$", "-test.count=1")
		child.Env = append(os.Environ(), "JSONREPLY_FORM="+form, "GORACE=halt_on_error=1")
		out, err := child.CombinedOutput()
		if found := strings.Contains(string(out), "DATA RACE"); found != races || (err != nil) != races {
			t.Errorf("%s form: race found %v, want %v (%v)\n%s", form, found, races, err, out)
		}
	}
}
