package risk

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary play the gateway's risk role for Start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "risk" {
		if err := Serve(context.Background(), "127.0.0.1:0", os.Stdin, os.Stdout); err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

func TestProcess(t *testing.T) {
	p, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(p.Base)
	got, err := c.Score(t.Context(), 42)
	if want := Score(42, Rounds); got != want || err != nil {
		t.Errorf("score %d (%v), want %d", got, err, want)
	}
	p.Stop() // returns once the process has ended
	if _, err := c.Score(t.Context(), 42); err == nil {
		t.Error("a stopped service answers")
	}
}

func TestServeEndsWithItsParent(t *testing.T) {
	alive, parent, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	done := make(chan error, 1)
	go func() { done <- Serve(t.Context(), "127.0.0.1:0", alive, new(strings.Builder)) }()
	parent.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(5 * time.Minute):
		t.Error("still there without its parent")
	}
}

func TestClientRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"error":    {500, "{}"},
		"not JSON": {200, "<html>"},
		"too long": {200, `{"score":` + strings.Repeat(" ", replyLimit) + `1}`},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(c.status)
			w.Write([]byte(c.body))
		}))
		if score, err := NewClient(s.URL).Score(t.Context(), 1); err == nil {
			t.Errorf("%s: score %d, want an error", name, score)
		}
		s.Close()
	}
	if score, err := (*Client)(nil).Score(t.Context(), 1); score != -1 || err != nil {
		t.Errorf("nobody asked: %d, %v", score, err)
	}
}

func TestHandlerRefuses(t *testing.T) {
	for _, query := range []string{"", "?uid=x", "?uid=0", "?uid=-1"} {
		w := httptest.NewRecorder()
		Handler().ServeHTTP(w, httptest.NewRequest("GET", "/score"+query, nil))
		if w.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", query, w.Code)
		}
	}
}
