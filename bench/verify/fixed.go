//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/verify/session"
)

// fixedRun is a recording of pairs of identical sides with a factor fixed on both.
type fixedRun struct {
	Factor   string      `json:"factor"`
	Service  string      `json:"service"`
	Date     time.Time   `json:"date"`
	Host     record.Host `json:"host"`
	Redline  string      `json:"redline"`
	Launches []launched  `json:"launches"`
}

// fix records pairs of the healthy service with itself, factors in turn, so that the machine's restless minutes meet all alike.
func fix(ctx context.Context, o options, kept *results, say func(string, ...any)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	s, err := startStage(ctx, o, say)
	if err != nil {
		return err
	}
	defer s.end()
	launcher, rng := &session.Launcher{Scratch: s.scratch}, rand.New(rand.NewPCG(o.seed, 17))
	runs := make([]fixedRun, len(factors))
	for i, f := range factors {
		runs[i] = fixedRun{Factor: f.name, Service: o.service, Date: time.Now().UTC().Truncate(time.Second), Host: record.HostInfo(),
			Redline: benchmark.Revision(".")}
	}
	for round := range o.rounds {
		for _, i := range rng.Perm(len(factors)) {
			one, two := factors[i].with(s.side("one", 0), self), factors[i].with(s.side("two", 0), self)
			p, err := pairOf(ctx, launcher, rng, one, two)
			if err != nil {
				return fmt.Errorf("fixing %s: %w", factors[i].title, err)
			}
			runs[i].Launches = append(runs[i].Launches, launches(p)...)
		}
		say("%s, factors: round %d of %d", o.service, round+1, o.rounds)
	}
	kept.Fixed = append(slices.DeleteFunc(kept.Fixed, func(f fixedRun) bool { return f.Service == o.service }), runs...)
	return nil
}
