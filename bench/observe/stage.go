//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/http1"
	"github.com/redline-go/redline/probe/control"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service"
	"github.com/redline-go/redline/service/gateway"
	"github.com/redline-go/redline/service/postgres"
)

// stage holds the processes that run all the time.
type stage struct {
	clock    timebase.Clock
	database *postgres.Server
	target   *service.Target
	plan     *scenario.Plan
	protocol load.Protocol
	scratch  string
	rounds   int
	rng      *rand.Rand
	progress io.Writer
}

// startStage starts database and gateway.
func startStage(ctx context.Context, o options, scratch string, progress io.Writer) (*stage, error) {
	s := &stage{scratch: scratch, rng: rand.New(rand.NewPCG(o.seed, 0)), progress: progress}
	if err := s.start(ctx, o); err != nil {
		s.end()
		return nil, err
	}
	return s, nil
}

func (s *stage) start(ctx context.Context, o options) (err error) {
	if s.clock, err = timebase.Start(); err != nil {
		return err
	}
	binary := o.gateway
	if info, err := os.Stat(binary); err != nil {
		return fmt.Errorf("the gateway: %w (hint: run it in a checkout of redline)", err)
	} else if info.IsDir() {
		s.say("building the gateway")
		binary = filepath.Join(s.scratch, "gateway")
		built, err := service.BuildInstrumented(ctx, o.gateway, binary)
		if err != nil {
			return err
		}
		for _, why := range built.Left {
			s.say("%s", why)
		}
	}
	if s.database, err = postgres.Start(ctx, postgres.Options{DSN: o.dsn}); err != nil {
		return err
	}
	env, err := remedies(ctx, binary, o.without)
	if err != nil {
		return err
	}
	env["GATEWAY_DSN"] = s.database.DSN
	s.say("filling the database")
	if err := gateway.Seed(ctx, binary, s.database.DSN); err != nil {
		return err
	}
	if err := s.aim(o); err != nil {
		return err
	}
	s.plan.Target.Env = env
	s.target, err = service.Start(ctx, service.Options{
		Target: s.plan.Target, URL: string(s.plan.Requests[0].URL), Clock: s.clock, Window: timebase.DefaultWindow, Binary: binary,
	})
	if err != nil {
		return err
	}
	if s.target.Ring() == "" {
		return fmt.Errorf("%s has no probe", binary)
	}
	return errors.Join(s.sample("ring", false), s.sample("operations", false))
}

// remedies returns the environment of a healthy gateway: all remedies except
// those that hide what others cure.
func remedies(ctx context.Context, binary string, without []string) (map[string]string, error) {
	list, err := gateway.Remedies(ctx, binary)
	if err != nil {
		return nil, err
	}
	env := map[string]string{}
	for _, r := range list {
		if !r.Last && !slices.Contains(without, r.Name) {
			env[r.Env] = r.On
		}
	}
	return env, nil
}

// aim makes the plan of the load: the order scenario on the built gateway.
func (s *stage) aim(o options) (err error) {
	if s.plan, err = gateway.Order(labGateway); err != nil {
		return err
	}
	s.plan.Target.Build = o.gateway
	s.plan.Load.Duration, s.plan.Load.Warmup = time.Hour, ramp // it is ended when the blocks are over
	s.plan.Observe.Postgres = s.database.DSN
	if err := s.plan.Validate(); err != nil {
		return err
	}
	s.protocol, err = http1.New(s.plan)
	return err
}

// sample lets the probe take its samples (ring) or the hooks count (operations), or
// pauses them.
func (s *stage) sample(kind string, on bool) error {
	conn, err := net.Dial("unix", s.target.Socket())
	if err != nil {
		return fmt.Errorf("the probe: %w", err)
	}
	defer conn.Close()
	request := control.Request{Op: control.Rate, Kind: kind}
	if on {
		request.Rate = 1
	}
	if _, err = fmt.Fprintln(conn, request); err == nil {
		_, err = control.Receive(conn, io.Discard, 1<<10)
	}
	if err != nil {
		return fmt.Errorf("pause the probe: %w", err)
	}
	return nil
}

func (s *stage) end() {
	if s.target != nil {
		s.target.End()
	}
	if s.database != nil {
		_ = s.database.Stop(context.Background()) // it dies with us in any case
	}
}

func (s *stage) say(format string, args ...any) {
	fmt.Fprintln(s.progress, strings.TrimSpace(fmt.Sprintf(format, args...)))
}
