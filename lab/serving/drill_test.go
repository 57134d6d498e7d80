package serving_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/failsafe-go/failsafe-go"             // retries and limits that are kept
	"github.com/failsafe-go/failsafe-go/retrypolicy" // how often
	"github.com/failsafe-go/failsafe-go/timeout"     // how long each

	"github.com/redline-go/redline/lab/micro"
)

// fault is what a drill does to the first attempt of every second request.
type fault string

const (
	stall   fault = "stall"   // no answer while the caller waits
	cut     fault = "cut"     // half of the body
	refusal fault = "refusal" // 503
	strange fault = "strange" // an error page with status 200, as some proxies have
)

var faults = []fault{stall, cut, refusal, strange}

// drilled is a dependency under drill. Its path is /FAULT/NUMBER.
type drilled struct{ seen sync.Map }

func (d *drilled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number, _ := strconv.Atoi(r.PathValue("number"))
	_, again := d.seen.LoadOrStore(r.URL.Path, true)
	if again || number%2 == 1 {
		answer(w, r)
		return
	}
	switch fault(r.PathValue("fault")) {
	case stall:
		<-r.Context().Done()
	case cut:
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body[:len(body)/2])
	case refusal:
		http.Error(w, "busy", http.StatusServiceUnavailable)
	case strange:
		_, _ = io.WriteString(w, "<h1>502 Bad Gateway</h1>")
	}
}

// caller asks the dependency, as found or with the fixes that a drill called for.
type caller struct {
	client   *http.Client
	addr     string
	patience time.Duration // of whoever asked the caller
	checks   bool          // status and length; what does not match is an error
	attempts int
	limit    time.Duration // of an attempt; 0 for none
}

// asFound reads what comes, as long as its own caller waits.
func asFound(addr string, client *http.Client, patience time.Duration) *caller {
	return &caller{client: client, addr: addr, patience: patience, attempts: 1}
}

// afterDrill has the fixes for all faults.
func afterDrill(addr string, client *http.Client, patience time.Duration) *caller {
	return &caller{client: client, addr: addr, patience: patience, checks: true, attempts: 3, limit: patience / 4}
}

func (c *caller) get(path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), c.patience)
	defer cancel()
	policies := []failsafe.Policy[[]byte]{retrypolicy.NewBuilder[[]byte]().WithMaxRetries(c.attempts - 1).Build()}
	if c.limit > 0 {
		policies = append(policies, timeout.New[[]byte](c.limit))
	}
	return failsafe.With(policies...).WithContext(ctx).GetWithExecution(func(e failsafe.Execution[[]byte]) ([]byte, error) {
		return c.attempt(e.Context(), path)
	})
}

func (c *caller) attempt(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.addr+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return nil, err
	case c.checks && (resp.StatusCode != http.StatusOK || len(got) != len(body)):
		return nil, errAnswer
	}
	return got, nil
}

var drills atomic.Int64 // so that no path comes twice

// drill makes n requests per fault, eight at once, and returns how many had not the right body.
func drill(c *caller, which []fault, n int) (failed int64) {
	var wrong atomic.Int64
	first := int(drills.Add(1)) * 2 * n // even, so that as many are hit in each drill
	for _, f := range which {
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				for i := worker; i < n; i += 8 {
					if got, err := c.get("/" + string(f) + "/" + strconv.Itoa(first+i)); err != nil || !bytes.Equal(got, body) {
						wrong.Add(1)
					}
				}
			})
		}
		all.Wait()
	}
	return wrong.Load()
}

func underDrill(tb testing.TB) (addr string, client *http.Client) {
	tb.Helper()
	mux := http.NewServeMux()
	mux.Handle("/{fault}/{number}", new(drilled))
	transport := &http.Transport{MaxIdleConnsPerHost: 8}
	tb.Cleanup(transport.CloseIdleConnections)
	return serve(tb, &http.Server{Handler: mux}), &http.Client{Transport: transport}
}

// BenchmarkDrill asks a dependency with faults, by a caller as found or with the drill's fixes, and
// reports how many of 64 requests have not the right answer in time.
func BenchmarkDrill(b *testing.B) {
	addr, client := underDrill(b)
	c := micro.Of(asFound, afterDrill)(addr, client, 200*time.Millisecond)
	failed := int64(0)
	for b.Loop() {
		failed += drill(c, faults, 16)
	}
	b.ReportMetric(float64(failed)/float64(b.N), "failed/op")
}

// TestDrill: the caller as found fails by each fault on each request that it hits, and by none
// after the drill. Each fix is needed: without it, some fault is left.
func TestDrill(t *testing.T) {
	addr, client := underDrill(t)
	found := asFound(addr, client, 50*time.Millisecond)
	// A busy machine ends no attempt of the others early: they wait long, where they need not.
	fixed := afterDrill(addr, client, time.Minute)
	for _, f := range faults {
		c := *fixed
		if f == stall {
			c.limit = 50 * time.Millisecond
			c.attempts = 100
		}
		if failed := drill(&c, []fault{f}, 16); failed != 0 {
			t.Errorf("%s, after the drill: %d of 16 fail", f, failed)
		}
		if f == stall {
			continue // whether the others are in time is the machine's affair
		}
		found.patience = time.Minute
		if failed := drill(found, []fault{f}, 16); failed != 8 {
			t.Errorf("%s, as found: %d of 16 fail, not the 8 that are hit", f, failed)
		}
	}
	found.patience = 50 * time.Millisecond
	if failed := drill(found, []fault{stall}, 16); failed < 8 {
		t.Errorf("stall, as found: %d of 16 fail, fewer than the 8 that are hit", failed)
	}
	for name, without := range map[string]func(*caller){
		"checks":   func(c *caller) { c.checks = false },
		"attempts": func(c *caller) { c.attempts = 1 },
	} {
		c := *fixed
		without(&c)
		if drill(&c, []fault{cut, refusal, strange}, 16) == 0 {
			t.Errorf("without %s no fault is left", name)
		}
	}
	c := *fixed
	c.limit, c.patience = 0, 50*time.Millisecond
	if drill(&c, []fault{stall}, 16) == 0 {
		t.Error("without a limit per attempt no stall is left")
	}
}
