//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// kind is a kind of real session: by how many per cent the calibrated work makes each side
// slower than the healthy service.
type kind struct {
	name, title string
	a, b        int
}

var kinds = []kind{
	{"aa", "both sides the same", 0, 0},
	{"slow5", "side b 5 % slower", 0, 5},
	{"slow3", "side b 3 % slower", 0, 3},
	{"slow10", "side b 10 % slower", 0, 10},
	{"fast5", "side a 5 % slower", 5, 0},
}

// measure runs the real sessions, kinds in turn.
func measure(ctx context.Context, o options, kept *results, say func(string, ...any)) error {
	todo := func() (list []kind) {
		for _, k := range kinds {
			if slices.Contains(o.only, k.name) && len(kept.of(o.service, k.name)) < o.sessions {
				list = append(list, k)
			}
		}
		return list
	}
	if len(todo()) == 0 {
		return nil
	}
	s, err := startStage(ctx, o, say)
	if err != nil {
		return err
	}
	defer s.end()
	if err := s.calibrate(ctx, o, kept); err != nil {
		return err
	}
	for list := todo(); len(list) > 0; list = todo() {
		for _, k := range list {
			done, err := s.session(ctx, o, k, kept.work(o.service).Rounds, o.seed+uint64(len(kept.Sessions)))
			if err != nil {
				return err
			}
			done.Machine, done.Service = kept.here, o.service
			kept.Machines[kept.here].Date = time.Now().UTC().Truncate(time.Second)
			kept.Sessions = append(kept.Sessions, done)
			say("%s, %s %d of %d: %s", o.service, k.name, len(kept.of(o.service, k.name)), o.sessions, done.line())
			if err := kept.write(o.out); err != nil {
				return err
			}
		}
	}
	return nil
}

// session runs one as `redline ab` does.
func (s *stage) session(ctx context.Context, o options, k kind, rounds int, seed uint64) (trial, error) {
	metrics, err := verify.Choose(s.plan)
	if err != nil {
		return trial{}, err
	}
	log, err := session.Create(filepath.Join(s.scratch, fmt.Sprintf("session-%d", seed)), session.Header{Plan: []byte("{}"), Seed: seed})
	if err != nil {
		return trial{}, err
	}
	began := time.Now()
	run := &session.Session{
		A: s.side("a", k.a*rounds/perCent), B: s.side("b", k.b*rounds/perCent), Log: log, MaxTime: o.maxTime,
		Measurer: &session.Launcher{Scratch: s.scratch}, Rules: verify.Rules{Metrics: metrics, Seed: seed},
		// Progress is part of the cost of a session.
		OnProgress: func(p session.Progress) { _ = p.Line() },
	}
	result, err := run.Run(ctx)
	if err != nil {
		return trial{}, err
	}
	same, compared := log.Pairs()
	t := newTrial(k.name, result, time.Since(began), same, compared)
	t.Seed, t.Rounds = seed, rounds
	// Looks are spaced over the pairs that the time allowed; the last may have had
	// fewer.
	t.Most = run.Rules.Planned
	return t, log.Finish(result)
}

// work is how the added work was calibrated.
type work struct {
	Rounds  int     `json:"rounds"`   // that make 5 %
	RoundNS float64 `json:"round_ns"` // CPU time of one
	CPU     float64 `json:"cpu_ns"`   // of the healthy gateway per request
	Pairs   int     `json:"pairs"`    // of launches that reported them; 0 when it was given
}

const (
	calibrationPairs  = 8
	calibrationRounds = 30_000 // of the gateway about 30 %: far above the noise, and still the same service
	plainRounds       = 5_000  // likewise, of a plain service
	calibrationTurn   = 150 * time.Millisecond
	share             = perCent / 100.
	perCent           = 5 // that the calibrated rounds make
)

// calibrate finds how many rounds make 5 % of the healthy gateway's CPU per
// request, both measured under the load of the sessions, in turns as in them. Each start of
// the bench does so again: the CPU time of a request changes with the machine.
func (s *stage) calibrate(ctx context.Context, o options, kept *results) error {
	if o.spin > 0 {
		kept.setWork(o.service, work{Rounds: o.spin})
		return nil
	}
	s.say("measuring what a round of work costs")
	added := calibrationRounds
	if o.service != gatewayService {
		added = plainRounds
	}
	launcher := &session.Launcher{Scratch: s.scratch}
	sides := []session.Side{s.side("healthy", 0), s.side("spinning", added)}
	rng := rand.New(rand.NewPCG(o.seed, 7))
	var healthy, extra []float64
	for range calibrationPairs {
		order := rng.Perm(2)
		var blocks [2]verify.Block
		var err error
		blocks[order[0]], blocks[order[1]], err = launcher.Alternate(ctx, sides[order[0]], sides[order[1]],
			session.Course{Turn: calibrationTurn})
		if err != nil {
			return err
		}
		var cpu [2]float64
		for i, b := range blocks {
			if cpu[i] = b.Values[decides]; b.Void != "" || !(cpu[i] > 0) {
				return fmt.Errorf("calibrate: the %s service could not be measured: %s", sides[i].Name, b.Void)
			}
		}
		healthy, extra = append(healthy, cpu[0]), append(extra, cpu[1]-cpu[0])
	}
	w := work{CPU: stat.Median(healthy), RoundNS: stat.HodgesLehmann(extra) / float64(added), Pairs: calibrationPairs}
	if !(w.RoundNS > 0) {
		return fmt.Errorf("calibrate: the work that was added took no CPU (%.3f ns a round): the machine is too restless", w.RoundNS)
	}
	w.Rounds = int(share * w.CPU / w.RoundNS)
	kept.setWork(o.service, w)
	s.say("a request takes %.0f µs of CPU and a round %.2f ns: %d rounds are 5 %%", w.CPU/1e3, w.RoundNS, w.Rounds)
	return nil
}
