package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"
)

// start runs the command and returns what it prints.
func start(t *testing.T, lines int, args ...string) []string {
	t.Helper()
	out, in := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := command(ctx, args, in, io.Discard)
		in.CloseWithError(err)
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	var printed []string
	for s := bufio.NewScanner(out); len(printed) < lines && s.Scan(); {
		printed = append(printed, s.Text())
	}
	if len(printed) < lines {
		t.Fatalf("it printed %q", printed)
	}
	return printed
}

func TestTLS(t *testing.T) {
	printed := start(t, 2, "-tls", "-body", "500")
	authority, err := os.ReadFile(printed[1])
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	defer client.CloseIdleConnections()
	answer, err := client.Get(printed[0] + "/x")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err != nil || len(body) != 500 {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}

func TestRefusesTheWorld(t *testing.T) {
	for _, args := range [][]string{{"-listen", "0.0.0.0:0"}, {"-fail", "1.5"}, {"-stall", "NaN"}, {"-latency", "-1s"}, {"x"}} {
		if err := command(context.Background(), args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
}

// TestCapacity: with two seats no more than two requests wait out their latency
// at a time, so eight take four latencies.
func TestCapacity(t *testing.T) {
	a := &answers{capacity: 2, latency: 5 * time.Millisecond}
	if err := a.ready(); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	began := time.Now()
	for range 8 {
		all.Go(func() { a.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil)) })
	}
	all.Wait()
	if took := time.Since(began); took < 4*a.latency {
		t.Errorf("8 requests took %v", took)
	}
}

func TestFailAndStall(t *testing.T) {
	a := &answers{fail: 1}
	if err := a.ready(); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("status %d", w.Code)
	}
	a = &answers{stall: 1}
	ctx, gone := context.WithCancel(context.Background())
	gone()
	w = httptest.NewRecorder()
	a.ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(ctx)) // returns, since the client is gone
	if w.Body.Len() > 0 {
		t.Errorf("a stalled request was answered %q", w.Body)
	}
}
