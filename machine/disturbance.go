package machine

import (
	"context"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/container"
	"github.com/redline-go/redline/observe/process"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
)

// Disturbance is what kept a machine from its work during a session. Shares are of the
// session's CPU time, 0 to 1; nil is what could not be seen.
type Disturbance struct {
	Quota     *float64 `json:"cpu_quota"`              // CPUs that a control group allows; nil also without one
	Throttled *float64 `json:"throttled"`              // share of the time in which the quota stopped threads
	Steal     *float64 `json:"steal"`                  // that the hypervisor gave to others
	Foreign   *float64 `json:"foreign_cpu"`            // that other processes took
	Unseen    string   `json:"not_seen_why,omitempty"` // why something is nil
}

// From these shares on a session was disturbed.
const (
	muchThrottled = 0.01
	muchSteal     = 0.01
	muchForeign   = 0.05
)

// Warnings are sentences without a full stop about what disturbed.
func (d Disturbance) Warnings() (out []string) {
	if d.Quota != nil {
		out = append(out, fmt.Sprintf("throttled: a control group allows %s CPUs", notation.Short(*d.Quota)))
		if d.Throttled != nil && *d.Throttled > muchThrottled {
			out[0] += fmt.Sprintf(", and stopped threads for %s of the CPU time", notation.Percent(*d.Throttled))
		}
	}
	if d.Steal != nil && *d.Steal > muchSteal {
		out = append(out, fmt.Sprintf("restless: the hypervisor gave %s of the CPU time to others (steal)",
			notation.Percent(*d.Steal)))
	}
	if d.Foreign != nil && *d.Foreign > muchForeign {
		out = append(out, fmt.Sprintf("restless: other processes took %s of the CPU time", notation.Percent(*d.Foreign)))
	}
	if d.Unseen != "" {
		out = append(out, "not seen: "+d.Unseen)
	}
	return out
}

// allowed is the quota in words.
func (d Disturbance) allowed() string {
	if d.Quota == nil {
		return "none"
	}
	return notation.Short(*d.Quota) + " CPUs"
}

// sums is a sink that adds counters up and keeps the last gauge.
type sums struct {
	sync.Mutex
	added, last map[string]float64
}

// Add implements observe.Sink.
func (s *sums) Add(points ...series.Point) error {
	s.Lock()
	defer s.Unlock()
	for _, p := range points {
		s.added[p.Series.Name] += p.Value
		s.last[p.Series.Name] = p.Value
	}
	return nil
}

func (*sums) Profile(record.Profile) error { return nil }
func (*sums) Trace(record.Trace) error     { return nil }

// watching observes quota, steal and foreign work until the function that it returns is
// called.
func watching() func() Disturbance {
	var d Disturbance
	clock, err := timebase.Start()
	if err != nil {
		return func() Disturbance { return Disturbance{Unseen: err.Error()} }
	}
	ctx, cancel := context.WithCancel(context.Background())
	seen := &sums{added: map[string]float64{}, last: map[string]float64{}}
	var all sync.WaitGroup
	subject := observe.Subject{Clock: clock, PID: os.Getpid()}
	for _, source := range []observe.Source{container.New(container.Options{}), process.New(process.Options{})} {
		if err := source.Open(ctx, subject); err != nil {
			d.Unseen = err.Error()
			continue
		}
		all.Go(func() { _ = source.Run(ctx, seen) }) // it ends with its context alone
	}
	begun, own := time.Now(), spent()
	return func() Disturbance {
		took, own := time.Since(begun), spent()-own
		cancel()
		all.Wait()
		seen.Lock()
		defer seen.Unlock()
		cpus := seen.last[series.HostCPUs]
		share := func(ns float64) *float64 {
			if cpus == 0 {
				return nil
			}
			v := max(0, ns/(cpus*float64(took)))
			return &v
		}
		if quota, limited := seen.last[series.CgroupQuota]; limited {
			d.Quota, d.Throttled = &quota, share(seen.added[series.CgroupThrottled])
		}
		if busy, ok := seen.added[series.HostBusy]; ok {
			d.Steal, d.Foreign = share(seen.added[series.HostSteal]), share(busy-float64(own))
		}
		return d
	}
}

// spent is the CPU time of this process and of the rounds that ended.
func spent() time.Duration {
	sum := time.Duration(0)
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}
