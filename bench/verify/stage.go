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
	"github.com/redline-go/redline/scenario/document"
	"github.com/redline-go/redline/service"
	"github.com/redline-go/redline/service/gateway"
	"github.com/redline-go/redline/service/port"
	"github.com/redline-go/redline/service/postgres"
	"github.com/redline-go/redline/verify/session"
)

// services are what real sessions compare: the lab's gateway, and those of command plain.
var services = []string{gatewayService, "hello", "json"}

const gatewayService = "gateway"

// stage is what all sessions of a service share: its binary, its scenario, and the gateway's database.
type stage struct {
	database *postgres.Server // nil for a plain service
	plan     *scenario.Plan
	spin     string // the environment variable of added rounds
	binary   string
	scratch  string
	say      func(string, ...any)
}

// startStage builds the service, and starts the database that it needs.
func startStage(ctx context.Context, o options, say func(string, ...any)) (*stage, error) {
	scratch, err := os.MkdirTemp("", "redline-verify-")
	if err != nil {
		return nil, err
	}
	s := &stage{scratch: scratch, binary: filepath.Join(scratch, o.service), say: say}
	start := s.startPlain
	if o.service == gatewayService {
		start = s.startGateway
	}
	if err := start(ctx, o); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (s *stage) startGateway(ctx context.Context, o options) (err error) {
	s.spin = "GATEWAY_SPIN"
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

// startPlain builds command plain, under the gateway's kind of load.
func (s *stage) startPlain(ctx context.Context, o options) error {
	s.spin = "PLAIN_SPIN"
	folder := filepath.Join("bench", "verify", "plain")
	s.say("building the service")
	if err := service.Build(ctx, folder, s.binary); err != nil {
		return err
	}
	address, err := port.Reserve("127.0.0.1")
	if err != nil {
		return err
	}
	text := fmt.Sprintf("load: {connections: 64, duration: 30s, warmup: 5s}\nrequests:\n  - get: http://%s/\n", address)
	if s.plan, err = document.Parse(os.DirFS(folder), o.service+".yaml", []byte(text)); err != nil {
		return err
	}
	s.plan.Target.Build, s.plan.Target.Args = folder, []string{"-addr", address, "-serve", o.service}
	return s.plan.Validate()
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

// side is the service with so many rounds of work added to a request.
func (s *stage) side(name string, rounds int) session.Side {
	plan := *s.plan
	plan.Target.Env = map[string]string{s.spin: strconv.Itoa(rounds)}
	maps.Copy(plan.Target.Env, s.plan.Target.Env)
	return session.Side{Name: name, Plan: &plan, Binary: s.binary}
}

func (s *stage) end() {
	if s.database != nil {
		_ = s.database.Stop(context.Background()) // it dies with us in any case
	}
	os.RemoveAll(s.scratch)
}
