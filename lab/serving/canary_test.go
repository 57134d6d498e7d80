package serving_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redline-go/redline/lab/micro"
)

// The claim's limits: a release ends when the 95th percentile lies above late and the share of
// errors has risen by more than rise, in so many windows running.
const (
	late    = 120 * time.Millisecond
	rise    = 0.0005
	running = 3
)

// release brings a candidate into service in stages of so many windows each, of which each
// sends so many requests.
type release struct {
	shares          []float64 // of the requests that the candidate gets, per stage
	windows, window int
	// literal is the rule as claimed: all requests are judged, and both limits must be passed.
	// Otherwise it is the candidate's own requests, and either limit ends the release.
	literal bool
}

// staged has the claim's three stages.
func staged() release {
	return release{shares: []float64{0.05, 0.25, 1}, windows: running, window: 200}
}

// toAll gives all requests to the candidate, under the same rule.
func toAll() release { return release{shares: []float64{1}, windows: running, window: 200} }

// outcome is one request's.
type outcome struct {
	candidate bool
	took      time.Duration
	err       error
}

func (o outcome) harmed() bool { return o.err != nil || o.took > late }

// do releases, and returns the share at which it ended, 0 for a release to the end, and how
// many requests were late or failed. stable is the share of errors without the candidate.
func (r release) do(stable float64, ask func(candidate bool) outcome) (ended float64, harmed int) {
	bad := 0
	for _, share := range r.shares {
		for range r.windows {
			all := r.send(share, ask)
			for _, o := range all {
				if o.harmed() {
					harmed++
				}
			}
			if !r.isBad(stable, all) {
				bad = 0
				continue
			}
			if bad++; bad == running {
				return share, harmed
			}
		}
	}
	return 0, harmed
}

// send makes a window's requests, a hundred at once.
func (r release) send(share float64, ask func(candidate bool) outcome) []outcome {
	all := make([]outcome, r.window)
	var each sync.WaitGroup
	for worker := range 100 {
		each.Go(func() {
			for i := worker; i < len(all); i += 100 {
				// Every twentieth for a share of 5 %: a window has as many as the next.
				candidate := int(float64(i+1)*share) > int(float64(i)*share)
				all[i] = ask(candidate)
				all[i].candidate = candidate
			}
		})
	}
	each.Wait()
	return all
}

func (r release) isBad(stable float64, all []outcome) bool {
	var times []time.Duration
	failed := 0
	for _, o := range all {
		if r.literal || o.candidate {
			times = append(times, o.took)
			if o.err != nil {
				failed++
			}
		}
	}
	slices.Sort(times)
	slow := times[(len(times)*95+99)/100-1] > late // by nearest rank
	failing := float64(failed)/float64(len(times)) > stable+rise
	if r.literal {
		return slow && failing
	}
	return slow || failing
}

var errAnswer = errors.New("no answer of the service")

// BenchmarkCanary releases a candidate that is slow, and one that fails at once, to all requests
// or in stages, and reports how many requests were late or failed until it was ended.
func BenchmarkCanary(b *testing.B) {
	r := micro.Of(toAll(), staged())
	transport := &http.Transport{MaxIdleConnsPerHost: 100}
	b.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	get := func(addr string) outcome {
		begun := time.Now()
		resp, err := client.Get("http://" + addr + "/")
		if err == nil {
			defer resp.Body.Close()
			if got, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || len(got) != len(body) {
				err = errAnswer
			}
		}
		return outcome{took: time.Since(begun), err: err}
	}
	stable := serve(b, &http.Server{Handler: http.HandlerFunc(answer)})
	candidates := []string{
		serve(b, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(late + late/4)
			answer(w, r)
		})}),
		serve(b, &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "candidate", http.StatusInternalServerError)
		})}),
	}
	harmed := 0
	for b.Loop() {
		for _, candidate := range candidates {
			ended, n := r.do(0, func(new bool) outcome {
				if new {
					return get(candidate)
				}
				return get(stable)
			})
			if ended != r.shares[0] {
				b.Fatalf("the release ended at %v of the requests", ended)
			}
			harmed += n
		}
	}
	b.ReportMetric(float64(harmed)/float64(b.N), "failed/op")
}

// TestCanary: a healthy candidate gets all requests; a slow and a failing one end in the first
// stage. The rule as claimed releases either: a slow candidate makes no errors, and one that
// fails does so fast; of 5 % of all requests the 95th percentile sees nothing anyhow.
func TestCanary(t *testing.T) {
	quick := outcome{took: late / 10}
	for name, c := range map[string]struct {
		candidate      outcome
		ended, literal float64
	}{
		"healthy":          {quick, 0, 0},
		"slow":             {outcome{took: 2 * late}, 0.05, 0},
		"failing":          {outcome{took: late / 100, err: errAnswer}, 0.05, 0},
		"slow and failing": {outcome{took: 2 * late, err: errAnswer}, 0.05, 0.25},
	} {
		ask := func(candidate bool) outcome {
			if candidate {
				return c.candidate
			}
			return quick
		}
		sound, literal := staged(), staged()
		literal.literal = true
		if ended, harmed := sound.do(0, ask); ended != c.ended || ended == 0.05 && harmed != 3*10 {
			t.Errorf("%s: ended at %v with %d late or failed", name, ended, harmed)
		}
		if ended, _ := literal.do(0, ask); ended != c.literal {
			t.Errorf("%s, by the rule as claimed: ended at %v, want %v", name, ended, c.literal)
		}
	}
}

// TestCanaryForgivesOneWindow: errors that do not last end no release.
func TestCanaryForgivesOneWindow(t *testing.T) {
	var mu sync.Mutex
	asked := 0
	ended, harmed := staged().do(0, func(candidate bool) (o outcome) {
		mu.Lock()
		defer mu.Unlock()
		if candidate {
			if asked++; asked <= 20 { // two windows of the first stage
				o.err = errAnswer
			}
		}
		return o
	})
	if ended != 0 || harmed != 20 {
		t.Errorf("ended at %v with %d late or failed", ended, harmed)
	}
}
