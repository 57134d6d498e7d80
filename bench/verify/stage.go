//go:build linux

package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service"
	"github.com/redline-go/redline/service/gateway"
	"github.com/redline-go/redline/service/postgres"
	"github.com/redline-go/redline/verify/session"
)

// stage is what all sessions share: a database, the built gateway, and the
// scenario.
type stage struct {
	database *postgres.Server
	plan     *scenario.Plan
	binary   string
	scratch  string
	say      func(string, ...any)
}

// startStage starts the database and builds the gateway.
func startStage(ctx context.Context, o options, say func(string, ...any)) (*stage, error) {
	scratch, err := os.MkdirTemp("", "redline-verify-")
	if err != nil {
		return nil, err
	}
	s := &stage{scratch: scratch, binary: filepath.Join(scratch, "gateway"), say: say}
	if err := s.start(ctx, o); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (s *stage) start(ctx context.Context, o options) (err error) {
	if _, err := os.Stat(o.gateway); err != nil {
		return fmt.Errorf("the gateway: %w (hint: run it in a checkout of redline)", err)
	}
	s.say("building the gateway")
	if err := service.Build(ctx, o.gateway, s.binary); err != nil {
		return err
	}
	if s.database, err = postgres.Start(ctx, postgres.Options{DSN: o.dsn}); err != nil {
		return err
	}
	s.say("filling the database")
	if err := gateway.Seed(ctx, s.binary, s.database.DSN); err != nil {
		return err
	}
	if s.plan, err = gateway.Order(o.gateway); err != nil {
		return err
	}
	if err := s.plan.Validate(); err != nil {
		return err
	}
	s.plan.Target.Env, err = s.remedied(ctx)
	return err
}

// remedied is the environment of a healthy gateway: all remedies except the
// cache, which would hide most of its work.
func (s *stage) remedied(ctx context.Context) (map[string]string, error) {
	list, err := gateway.Remedies(ctx, s.binary)
	if err != nil {
		return nil, err
	}
	env := map[string]string{"GATEWAY_DSN": s.database.DSN}
	for _, r := range list {
		if !r.Last {
			env[r.Env] = r.On
		}
	}
	return env, nil
}

// side is the gateway with so many rounds of work added to a request.
func (s *stage) side(name string, rounds int) session.Side {
	plan := *s.plan
	plan.Target.Env = maps.Clone(plan.Target.Env)
	plan.Target.Env["GATEWAY_SPIN"] = strconv.Itoa(rounds)
	return session.Side{Name: name, Plan: &plan, Binary: s.binary}
}

func (s *stage) end() {
	if s.database != nil {
		_ = s.database.Stop(context.Background()) // it dies with us in any case
	}
	os.RemoveAll(s.scratch)
}
