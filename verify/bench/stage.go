//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/target"
	"github.com/redline-go/redline/target/postgres"
	"github.com/redline-go/redline/verify"
)

// stage is what all sessions share: a database, a gateway that is built, and the
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
	if err := target.Build(ctx, o.gateway, s.binary); err != nil {
		return err
	}
	if s.database, err = postgres.Start(ctx, postgres.Options{DSN: o.dsn}); err != nil {
		return err
	}
	s.say("filling the database")
	seed := exec.CommandContext(ctx, s.binary, "seed")
	seed.Env = append(os.Environ(), "GATEWAY_DSN="+s.database.DSN)
	if out, err := seed.CombinedOutput(); err != nil {
		return fmt.Errorf("fill the database: %w: %s", err, bytes.TrimSpace(out))
	}
	if err := s.aim(o.gateway); err != nil {
		return err
	}
	s.plan.Target.Env, err = s.remedied(ctx)
	return err
}

// aim makes the plan: the order scenario at an address of its own.
func (s *stage) aim(gateway string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := l.Addr().String()
	l.Close()
	folder := filepath.Join(gateway, "scenario")
	text, err := os.ReadFile(filepath.Join(folder, "order.yaml"))
	if err != nil {
		return fmt.Errorf("the scenario: %w", err)
	}
	text = bytes.ReplaceAll(text, []byte("127.0.0.1:8080"), []byte(address))
	if s.plan, err = scenario.Parse(os.DirFS(folder), "order.yaml", text); err != nil {
		return err
	}
	s.plan.Target.Build = gateway
	s.plan.Target.Args = []string{"--addr", address}
	return s.plan.Validate()
}

// remedied is the environment of a gateway that is healthy: all remedies but the
// cache, which would hide most of its work.
func (s *stage) remedied(ctx context.Context) (map[string]string, error) {
	out, err := exec.CommandContext(ctx, s.binary, "remedies", "--json").Output()
	if err != nil {
		return nil, fmt.Errorf("the gateway's remedies: %w", err)
	}
	var list []struct {
		Env, On string
		Last    bool
	}
	if err := json.Unmarshal(out, &list); err != nil {
		return nil, fmt.Errorf("the gateway's remedies: %w", err)
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
func (s *stage) side(name string, rounds int) verify.Side {
	plan := *s.plan
	plan.Target.Env = maps.Clone(plan.Target.Env)
	plan.Target.Env["GATEWAY_SPIN"] = strconv.Itoa(rounds)
	return verify.Side{Name: name, Plan: &plan, Binary: s.binary}
}

func (s *stage) end() {
	if s.database != nil {
		_ = s.database.Stop(context.Background()) // it dies with us in any case
	}
	os.RemoveAll(s.scratch)
}
