package jsonreply_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/redline-go/redline/kit/jsonreply"
)

type answer struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
	Tags []int  `json:"tags"`
}

// of returns an answer of some size whose every byte depends on the id.
func of(id, size int) answer {
	return answer{ID: id, Name: strings.Repeat(fmt.Sprint(id%10), size), Tags: []int{id, id, id}}
}

func appendJSON(dst []byte, value any) ([]byte, error) {
	b, err := json.Marshal(value)
	return append(dst, b...), err
}

// writers are the ways to encode, each of which must give the bytes of json.Marshal.
func writers() map[string]*jsonreply.Writer {
	return map[string]*jsonreply.Writer{
		"encoding/json": {},
		"append":        {Append: appendJSON},
		// Ignores the buffer and returns its own.
		"foreign": {Append: func(_ []byte, value any) ([]byte, error) { return json.Marshal(value) }},
	}
}

func TestSameBytesAsMarshal(t *testing.T) {
	for name, x := range writers() {
		t.Run(name, func(t *testing.T) {
			for _, value := range []any{nil, "", "<&>\u2028", 1.5, map[string]int{"b": 1, "a": 2}, of(1, 0),
				of(2, 3000), of(3, 200_000), of(4, 10), json.RawMessage(` [1] `)} {
				want, err := json.Marshal(value)
				if err != nil {
					t.Fatal(err)
				}
				w := httptest.NewRecorder()
				if err := x.Write(w, http.StatusCreated, value); err != nil {
					t.Fatal(err)
				}
				if w.Code != http.StatusCreated || !bytes.Equal(w.Body.Bytes(), want) {
					t.Errorf("%d, %.100q; want %.100q", w.Code, w.Body, want)
				}
				if got := w.Header().Get("Content-Length"); got != fmt.Sprint(len(want)) {
					t.Errorf("Content-Length %s, want %d", got, len(want))
				}
				if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
					t.Errorf("Content-Type %s", got)
				}
			}
		})
	}
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/problem+json")
	x := jsonreply.Writer{KeepHTML: true}
	if err := x.Write(w, http.StatusOK, "<"); err != nil || w.Body.String() != `"<"` ||
		w.Header().Get("Content-Type") != "application/problem+json" {
		t.Errorf("%v, %s, %v", err, w.Body, w.Header())
	}
}

// TestErrorBeforeTheHeader leaves the answer to the caller.
func TestErrorBeforeTheHeader(t *testing.T) {
	failed := errors.New("injected")
	half := jsonreply.Writer{Append: func(dst []byte, _ any) ([]byte, error) { return append(dst, "half"...), failed }}
	small := jsonreply.Writer{MaxBody: 10}
	for name, c := range map[string]struct {
		x      *jsonreply.Writer
		status int
		value  any
		want   error
	}{
		"encoder":  {&jsonreply.Writer{}, 200, make(chan int), nil},
		"append":   {&half, 200, 1, failed},
		"too long": {&small, 200, "0123456789", jsonreply.ErrTooLarge},
		"204":      {&small, 204, 1, jsonreply.ErrNoBody},
		"304":      {&small, 304, 1, jsonreply.ErrNoBody},
		"100":      {&small, 100, 1, jsonreply.ErrNoBody},
	} {
		t.Run(name, func(t *testing.T) {
			w := httptest.NewRecorder()
			err := c.x.Write(w, c.status, c.value)
			var encode *jsonreply.EncodeError
			if !errors.As(err, &encode) || c.want != nil && !errors.Is(err, c.want) {
				t.Fatalf("%v", err)
			}
			if w.Body.Len() > 0 || len(w.Header()) > 0 {
				t.Fatalf("written all the same: %v, %q", w.Header(), w.Body)
			}
			http.Error(w, "no answer", http.StatusInternalServerError)
			if w.Code != http.StatusInternalServerError {
				t.Errorf("%d: the caller cannot answer any more", w.Code)
			}
		})
	}
	w := httptest.NewRecorder()
	if err := small.Write(w, 200, "01234567"); err != nil {
		t.Errorf("a body of MaxBody bytes: %v", err)
	}
}

// spy is a ResponseWriter that shows what it gets.
type spy struct {
	header http.Header
	write  func([]byte) (int, error)
}

func (s *spy) Header() http.Header            { return s.header }
func (s *spy) WriteHeader(int)                {}
func (s *spy) Write(p []byte) (int, error)    { return s.write(p) }
func spying(f func([]byte) (int, error)) *spy { return &spy{http.Header{}, f} }
func complete(look func([]byte)) http.ResponseWriter {
	return spying(func(p []byte) (int, error) { look(p); return len(p), nil })
}

// TestFailedWriteKeepsItsBuffer: who failed to write may read the bytes for longer, as
// HTTP/2 does; no later answer may overwrite them.
func TestFailedWriteKeepsItsBuffer(t *testing.T) {
	for name, x := range writers() {
		t.Run(name, func(t *testing.T) {
			for _, fail := range []func([]byte) (int, error){
				func(p []byte) (int, error) { return 0, io.ErrClosedPipe },
				func(p []byte) (int, error) { return len(p), io.ErrClosedPipe },
				func(p []byte) (int, error) { return len(p) - 1, nil },
			} {
				var kept []byte
				err := x.Write(spying(func(p []byte) (int, error) { kept = p; return fail(p) }), 200, of(1, 100))
				var encode *jsonreply.EncodeError
				if err == nil || errors.As(err, &encode) {
					t.Fatalf("%v, want an error of writing", err)
				}
				before := string(kept)
				for range 100 {
					if err := x.Write(complete(func([]byte) {}), 200, of(2, 100)); err != nil {
						t.Fatal(err)
					}
				}
				if string(kept) != before {
					t.Fatalf("a later answer overwrote one that may still be read: %.40q", kept)
				}
			}
		})
	}
}

// TestForeignArrayIsNotRecycled: an encoder may return a constant answer of its own.
func TestForeignArrayIsNotRecycled(t *testing.T) {
	constant := make([]byte, 0, 4096)
	constant = append(constant, `{"error":"not found"}`...)
	x := jsonreply.Writer{Append: func(dst []byte, value any) ([]byte, error) {
		if value == nil {
			return constant, nil
		}
		return appendJSON(dst, value)
	}}
	for range 100 {
		for _, value := range []any{nil, of(7, 100)} {
			if err := x.Write(httptest.NewRecorder(), 200, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	if string(constant) != `{"error":"not found"}` {
		t.Errorf("the encoder's own answer was overwritten: %q", constant)
	}
}

// TestEmptyForeignArray: an encoder may return nothing, in an array of its own.
func TestEmptyForeignArray(t *testing.T) {
	x := jsonreply.Writer{Append: func(dst []byte, value any) ([]byte, error) {
		if value == nil {
			return make([]byte, 0, 8), nil
		}
		return appendJSON(dst, value)
	}}
	for range 100 {
		for _, value := range []any{nil, nil, of(7, 100)} {
			if err := x.Write(httptest.NewRecorder(), 200, value); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestLargeBufferIsNotKept: whatever came before, a small answer is in a small buffer.
func TestLargeBufferIsNotKept(t *testing.T) {
	for name, x := range map[string]*jsonreply.Writer{"encoding/json": {MaxPooled: 8 << 10},
		"append": {MaxPooled: 8 << 10, Append: appendJSON}} {
		t.Run(name, func(t *testing.T) {
			reused, last := false, (*byte)(nil)
			for range 20 {
				for _, size := range []int{100_000, 1000, 1000} {
					err := x.Write(complete(func(p []byte) {
						if size == 1000 && cap(p) > 8<<10 {
							t.Fatalf("a buffer of %d bytes was kept", cap(p))
						}
						reused = reused || &p[0] == last
						last = &p[0]
					}), 200, of(1, size))
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			if !reused {
				t.Error("no buffer was ever used again")
			}
		})
	}
}

// TestPanicsPassThrough, of the encoder and of the connection, and harm no later answer.
func TestPanicsPassThrough(t *testing.T) {
	bad := jsonreply.Writer{Append: func(dst []byte, value any) ([]byte, error) {
		if value == nil {
			panic(http.ErrAbortHandler)
		}
		return appendJSON(dst, value)
	}}
	for range 50 {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = bad.Write(httptest.NewRecorder(), 200, nil)
		}()
		w := httptest.NewRecorder()
		if err := bad.Write(w, 200, 1); err != nil || w.Body.String() != "1" {
			t.Errorf("%v, %q", err, w.Body)
		}
	}
}

// TestConcurrentAnswers over real connections, of HTTP/1.1 and of HTTP/2 with clients
// that leave amid the body: each answer holds its own bytes alone.
func TestConcurrentAnswers(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("http2=%v", http2), func(t *testing.T) {
			x := jsonreply.Writer{MaxPooled: 1 << 20}
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var id, size int
				if _, err := fmt.Sscanf(r.URL.Path, "/%d/%d", &id, &size); err != nil {
					http.Error(w, err.Error(), http.StatusBadRequest)
					return
				}
				_ = x.Write(w, http.StatusOK, of(id, size)) // fails where the client leaves
			}))
			server.EnableHTTP2 = http2
			server.StartTLS()
			defer server.Close()
			var wg sync.WaitGroup
			for caller := range 8 {
				wg.Go(func() {
					for n := range 9 {
						id := caller*100 + n
						size := []int{10, 3000, 200_000}[n%3]
						if err := ask(server, id, size, n%4 == 3); err != nil {
							t.Errorf("answer %d: %v", id, err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

// ask requests an answer and checks it, or leaves after the first byte.
func ask(server *httptest.Server, id, size int, leave bool) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/%d/%d", server.URL, id, size), nil)
	if err != nil {
		return err
	}
	response, err := server.Client().Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if leave {
		_, err := response.Body.Read(make([]byte, 1))
		return err
	}
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	want, err := json.Marshal(of(id, size))
	if err != nil {
		return err
	}
	if !bytes.Equal(body, want) || response.ContentLength != int64(len(want)) {
		return fmt.Errorf("%d bytes, %.60q; want %d, %.60q", len(body), body, len(want), want)
	}
	return nil
}
