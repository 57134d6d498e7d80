package measure

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/feeder"
	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// pooled is a service whose pool is set by HTTP.
type pooled struct {
	sync.Mutex
	size  int
	most  int  // limits the size; 0 does not
	deaf  bool // it takes a value and keeps its own
	mute  bool // it does not return its size
	asked []string
}

func (p *pooled) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.Lock()
	defer p.Unlock()
	switch {
	case r.URL.Path != "/admin/pool":
		http.NotFound(w, r)
	case r.Method == http.MethodPut:
		n, err := strconv.Atoi(r.URL.Query().Get("size"))
		if err != nil {
			http.Error(w, "no size", http.StatusBadRequest)
			return
		}
		p.asked = append(p.asked, r.URL.Query().Get("size"))
		if p.most > 0 {
			n = min(n, p.most)
		}
		if !p.deaf {
			p.size = n
		}
	case p.mute:
		http.Error(w, "write only", http.StatusMethodNotAllowed)
	default:
		fmt.Fprintf(w, `{"pool": {"size": %d}}`, p.size)
	}
}

func (p *pooled) now() int {
	p.Lock()
	defer p.Unlock()
	return p.size
}

// Measure draws a block under the size that the service has.
func (p *pooled) Measure(ctx context.Context, s session.Side) (verify.Block, error) {
	if s.Prepare != nil {
		if err := s.Prepare(ctx, s.Plan); err != nil {
			return verify.Block{}, err
		}
	}
	noise := rand.New(rand.NewPCG(uint64(p.now()), uint64(len(p.asked)))).NormFloat64()
	return verify.Block{Values: map[string]float64{"throughput": (5000 + 100*float64(min(p.now(), 20))) * (1 + 0.01*noise)}}, ctx.Err()
}

const poolKnob = "http:/admin/pool?size={}=2,4,8,16,32,64"

// live is a tuner of a service that runs, or is launched.
func live(t *testing.T, p *pooled, running bool) *Tuner {
	t.Helper()
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	s := &target{rng: rand.New(rand.NewPCG(1, 1)), value: flat}
	tuner := tuner(t, s, 5, poolKnob)
	plan := tuner.Present.Plan
	plan.Requests = []scenario.Request{{URL: feeder.Template(server.URL + "/work")}}
	tuner.Measurer, tuner.Running, tuner.Sweep, tuner.OneAtATime = p, running, true, true
	if running {
		k := tuner.Space.Knobs[0]
		values, err := ReadLive(t.Context(), plan, []tune.Knob{k}, nil)
		if err != nil {
			t.Fatal(err)
		}
		k, err = tune.ParseKnob(poolKnob)
		if err != nil {
			t.Fatal(err)
		}
		has := func(k tune.Knob) (string, bool) { v, ok := values[k.Name]; return v, ok }
		if tuner.Space, err = tune.NewSpace([]tune.Knob{k}, has); err != nil {
			t.Fatal(err)
		}
	}
	return tuner
}

// TestLiveIsSearchedAndRestored: on a target that runs, the better size is recommended, and the one that
// it had is put back.
func TestLiveIsSearchedAndRestored(t *testing.T) {
	p := &pooled{size: 3}
	tuner := live(t, p, true)
	r := tuned(t, tuner)
	if r.Verdict != tune.Recommend || !r.Running || len(r.Lines) != 1 || !strings.HasPrefix(r.Lines[0], "PUT /admin/pool?size=") {
		t.Errorf("%s %v: %s", r.Verdict, r.Lines, r.Why)
	}
	if n := p.now(); n != 3 {
		t.Errorf("the pool has %d and had 3", n)
	}
}

// TestLiveIsRestoredAfterAnInterrupt whatever was set last.
func TestLiveIsRestoredAfterAnInterrupt(t *testing.T) {
	p := &pooled{size: 3}
	tuner := live(t, p, true)
	ctx, cancel := context.WithCancel(t.Context())
	tuner.OnProgress = func(line string) {
		if strings.HasPrefix(line, "trial 4 ") {
			cancel()
		}
	}
	r, err := tuner.Run(ctx)
	if !errors.Is(err, context.Canceled) || r.Verdict != tune.Interrupted || len(p.asked) < 4 {
		t.Fatalf("%s, %v", r.Verdict, err)
	}
	if n := p.now(); n != 3 {
		t.Errorf("the pool has %d and had 3; it was set to %v", n, p.asked)
	}
}

// TestLiveThatCannotBeRestored is an error that names the request.
func TestLiveThatCannotBeRestored(t *testing.T) {
	p := &pooled{size: 3}
	tuner := live(t, p, true)
	tuner.OnProgress = func(line string) {
		if strings.HasPrefix(line, "trial 4 ") {
			p.Lock()
			p.deaf = true
			p.size = 64
			p.Unlock()
		}
	}
	_, err := tuner.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "could not be restored to 3: it is 64 (hint: PUT /admin/pool?size=3)") {
		t.Errorf("%v", err)
	}
}

// TestLiveOfALaunchedTarget: the present setting is the service as it starts, which nothing is asked of.
func TestLiveOfALaunchedTarget(t *testing.T) {
	p := &pooled{size: 3, mute: true}
	tuner := live(t, p, false)
	r := tuned(t, tuner)
	if slices.Contains(p.asked, "") || r.Running || r.Knobs[0].Present != "not set" || len(p.asked) == 0 {
		t.Errorf("%+v, asked %v", r.Knobs[0], p.asked)
	}
}

func TestLiveIsIgnored(t *testing.T) {
	p := &pooled{size: 3, deaf: true}
	r := tuned(t, live(t, p, false))
	if remark := r.Knobs[0].Remark; remark != "ignored by the target: it ran with size 3 although "+p.asked[0]+" was set" ||
		r.Verdict == tune.Recommend {
		t.Errorf("%s: %q", r.Verdict, remark)
	}
}

// TestLiveHasALimit: a target that takes sizes up to 16 makes 32 and 64 failed trials, and no others.
func TestLiveHasALimit(t *testing.T) {
	p := &pooled{size: 3, most: 16}
	r := tuned(t, live(t, p, true))
	if remark := r.Knobs[0].Remark; !strings.Contains(remark, "not survived at") || !strings.Contains(remark, "size 16 although") {
		t.Errorf("the remark is %q", remark)
	}
	if v := r.Best[0].Value; v != "16" {
		t.Errorf("best is %s: %s", v, r.Why)
	}
}

func TestLiveOnLoopbackAlone(t *testing.T) {
	plan := &scenario.Plan{Requests: []scenario.Request{{URL: "http://127.0.0.1:9/"}}}
	knob := func(text string) []tune.Knob {
		k, err := tune.ParseKnob(text)
		if err != nil {
			t.Fatal(err)
		}
		return []tune.Knob{k}
	}
	for text, want := range map[string]string{
		"http:/pool?size={}=2..64":                         "",
		"http:http://localhost:81/pool?size={}=2..64":      "",
		"http:http://db.example:81/pool?size={}=2..64":     "--allow-host db.example",
		"http:http://127.0.0.1.example/pool?size={}=2..64": "is not this machine",
	} {
		err := CheckLive(plan, knob(text), nil)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if err := CheckLive(plan, knob("http:http://db.example/pool?size={}=2..64"), []string{"db.example"}); err != nil {
		t.Error(err)
	}
	plan.Requests[0].URL = "http://db.example/"
	if err := CheckLive(plan, knob("http:/pool?size={}=2..64"), nil); err == nil {
		t.Error("a path on another host is set")
	}
	mute := httptest.NewServer(&pooled{mute: true})
	defer mute.Close()
	plan.Requests[0].URL = feeder.Template(mute.URL)
	if _, err := ReadLive(t.Context(), plan, knob("http:/admin/pool?size={}=2..64"), nil); err == nil ||
		!strings.Contains(err.Error(), "could not be restored") {
		t.Errorf("a running target that does not return its value: %v", err)
	}
}
