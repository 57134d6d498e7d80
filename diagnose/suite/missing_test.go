package suite_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/redline-go/redline/diagnose"
	. "github.com/redline-go/redline/diagnose/diagnosetest"
	"github.com/redline-go/redline/diagnose/suite"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/series"
)

// observed adds the data of kernel and container for a service whose host is in
// order.
func observed(b *Builder) *Builder {
	for _, name := range []string{series.NetListenOverflows, series.NetRetransmits, series.NetSynRetransmits,
		series.SocketsRetransmits, series.TCPRetransmits,
		series.SoftnetDropped, series.SoftnetSqueezed, series.CgroupThrottled, series.CgroupThrottles,
		series.ProcessMajorFaults, series.PressureMemory, series.HostSteal} {
		b.Counter(name, "", 0)
	}
	for name, amount := range map[string]float64{series.NetOutSegments: 9e5, series.SocketsSegments: 4e5,
		series.SoftnetProcessed: 9e5, series.CgroupPeriods: 100} {
		b.Counter(name, "", amount)
	}
	listen := series.Labels("listen", "127.0.0.1:80")
	b.Gauge(series.SocketsAcceptQueue, listen, 1).Gauge(series.SocketsBacklog, listen, 4096)
	b.Gauge(series.SocketsTimeWaitPeer, "", 20).Gauge(series.SocketsPorts, "", 28232)
	return b.Gauge(series.CgroupMemory, "", 4e8).Gauge(series.CgroupMemoryLimit, "", 1e9).Gauge(series.LoadConnections, "", 64)
}

// complete are services of which everything was observed.
func complete() map[string]func() *Builder {
	cache := "shop/cache.(*Cache).Get@cache.go:41"
	lock := []string{"sync.runtime_SemacquireMutex", "internal/sync.(*Mutex).lockSlow", "sync.(*Mutex).Lock", cache}
	return map[string]func() *Builder{
		"healthy and saturated": func() *Builder { return observed(Healthy()) },
		"healthy and idle":      func() *Builder { return observed(Idle()) },
		"lock": func() *Builder {
			return observed(waiting(0.8).Wait(breakdown.StateLock, 32*ms, 1, lock...)).Busy(2e9).Held(8e9, "sync.(*Mutex).Unlock", cache)
		},
		"lock, and a sync behind it": func() *Builder {
			sync := append(Stack("syscall.Fsync", "os.(*File).Sync", "shop/wal.(*Log).Append@wal.go:30"), Serving()...)
			chain := breakdown.Chain{Links: []breakdown.Link{{Request: true, State: breakdown.StateSyscall, Stack: sync}}}
			return observed(waiting(0.8).Wait(breakdown.StateLock, 32*ms, 1, lock...).Behind(chain)).Busy(2e9)
		},
		"slow query": func() *Builder { return observed(slowQuery()) },
		"n plus one": func() *Builder { return observed(nPlusOne()) },
		"churn":      func() *Builder { return observed(churn()) },
		"row locks":  func() *Builder { return observed(rowLocks()).Busy(1e9) },
		"JSON": func() *Builder {
			return observed(cpuOn(0.4, "encoding/json.structEncoder.encode", "encoding/json.Marshal", Route))
		},
		"allocation":  func() *Builder { return observed(allocation()) },
		"tail asleep": func() *Builder { return observed(tail(breakdown.StateSleep, "time.Sleep", cache)).Busy(1e9) },
		"throttled": func() *Builder {
			b := observed(Healthy()).CPU(2, 0.9, 0.49, 0.2, 0.1).Gauge(series.CgroupQuota, "", 0.5)
			return b.Counter(series.CgroupThrottled, "", 6e9).Counter(series.CgroupThrottles, "", 90)
		},
		"pages from the disk": func() *Builder {
			b := New(8, 8*ms).CPU(2, 0.6, 0.5, 0.05, -1).Wait(breakdown.StateRunning, 2*ms, 3).Wait(breakdown.StateRunnable, 5*ms, 3)
			b = observed(b).Counter(series.ProcessMajorFaults, "", 1.7e5).Counter(series.CgroupMemoryMaxes, "", 9000)
			return b.Gauge(series.CgroupMemory, "", 1e9).Busy(5e9)
		},
		"accept queue": func() *Builder {
			b := observed(New(64, 20*ms).Rate(200).CPU(2, 0.4, 0.2, 0.1, -1).Late(1e9, 0.2))
			return b.Counter(series.NetListenOverflows, "", 400).Gauge(series.SocketsAcceptQueue,
				series.Labels("listen", "127.0.0.1:80"), 4097)
		},
	}
}

// judgement is a suite's result on one bundle.
type judgement struct {
	found    map[string]findings.Confidence
	follows  map[string]bool // reported in the finding of another
	unjudged map[string]bool
}

func judged(t *testing.T, name string, b *Builder) judgement {
	t.Helper()
	rec, a := b.Open(t)
	out, err := diagnose.Run(rec, a, suite.All())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	j := judgement{map[string]findings.Confidence{}, map[string]bool{}, map[string]bool{}}
	for _, f := range out.Findings {
		j.found[f.Cause] = f.Confidence
		finite(t, name, f)
		for _, r := range f.Rejected {
			if strings.HasPrefix(r.Why, "it follows from ") {
				j.follows[r.Cause] = true
			}
		}
	}
	for _, n := range out.NotJudged {
		if n.Why == "" || strings.Contains(n.Why, "NaN") {
			t.Errorf("%s: %s is not judged because %q", name, n.Cause, n.Why)
		}
		j.unjudged[n.Cause] = true
	}
	for _, r := range out.Rejected {
		if strings.Contains(r.Why, "NaN") {
			t.Errorf("%s: %s is rejected because %q", name, r.Cause, r.Why)
		}
	}
	return j
}

// finite checks that a finding's figures are numbers.
func finite(t *testing.T, name string, f findings.Finding) {
	t.Helper()
	bad := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	texts := f.Title + f.Remedy + f.Where.Detail
	for _, e := range f.Evidence {
		texts += e.Text
		if bad(e.Value) {
			t.Errorf("%s: %s rests on %+v", name, f.Cause, e)
		}
	}
	if bad(f.Share) || bad(f.GainCeiling) || f.Share < 0 || f.Share > 1 || f.GainCeiling < 1 ||
		strings.Contains(texts, "NaN") || strings.Contains(texts, "Inf") {
		t.Errorf("%s: %s explains %v, promises %v, and says %q", name, f.Cause, f.Share, f.GainCeiling, texts)
	}
}

// held checks a record with less data than whole: no finding may come from that, except
// as a hint, or one that was reported within the finding of its root.
func (less judgement) held(t *testing.T, name string, whole judgement) {
	t.Helper()
	for _, cause := range slices.Sorted(maps.Keys(less.found)) {
		if _, there := whole.found[cause]; !there && less.found[cause] != findings.Low && !whole.follows[cause] {
			t.Errorf("%s: %s is found at %s confidence, which it was not with all data", name, cause, less.found[cause])
		}
	}
}

// removals returns what can be taken from a record: series, profiles, the anatomy
// and the statements.
func removals(t *testing.T, b *Builder) map[string]func(*Builder) *Builder {
	t.Helper()
	rec, _ := b.Open(t)
	all := map[string]func(*Builder) *Builder{
		"the anatomy":    func(b *Builder) *Builder { return b.NoAnatomy() },
		"the statements": func(b *Builder) *Builder { return b.NoStatements() },
		"the module":     func(b *Builder) *Builder { return b.Module("") },
	}
	for _, s := range rec.Names() {
		// Without requests nothing is judged; and a quota that is not seen, nor its effects,
		// cannot be distinguished from none.
		if s.Name != series.LoadRequests && s.Name != series.CgroupThrottles {
			all[s.Name] = func(b *Builder) *Builder { return b.Without(s.Name) }
		}
	}
	for _, typ := range []string{"cpu", "allocs", "mutex", "block", "heap", "goroutine"} {
		all["profile "+typ] = func(b *Builder) *Builder { return b.NoProfile(typ) }
	}
	return all
}

// TestNothingIsFoundForWantOfData removes each kind of data, and subsets of them: causes
// without data are not judged, and no finding comes from their absence.
func TestNothingIsFoundForWantOfData(t *testing.T) {
	const subsets = 16
	for name, build := range complete() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := judged(t, name, build())
			all := removals(t, build())
			names := slices.Sorted(maps.Keys(all))
			for _, one := range names {
				judged(t, "without "+one, all[one](build())).held(t, "without "+one, whole)
			}
			// A fixed seed: a failure must be reproducible.
			rng := rand.New(rand.NewPCG(7, uint64(len(name))))
			for i := range subsets {
				b, gone := build(), []string{}
				for _, one := range names {
					if rng.Float64() < float64(i+1)/(subsets+1) {
						b, gone = all[one](b), append(gone, one)
					}
				}
				text := fmt.Sprintf("subset %d, without %s", i, strings.Join(gone, ", "))
				judged(t, text, b).held(t, text, whole)
			}
		})
	}
}
