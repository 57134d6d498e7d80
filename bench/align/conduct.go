//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/http1"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/goruntime"
	"github.com/redline-go/redline/observe/kernel/events"
	"github.com/redline-go/redline/observe/postgres"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/document"
	"github.com/redline-go/redline/service"
	"github.com/redline-go/redline/service/port"
	database "github.com/redline-go/redline/service/postgres"
)

const (
	width = timebase.DefaultWindow
	// spacing is the time between two events: even one that slips into the next
	// window has the windows on either side of its own to itself.
	spacing = 3 * width
	// perTrace is how much of a run one execution trace is to cover.
	perTrace = 5 * time.Second
)

// plan drives one event every spacing, each at a random phase of its window. The
// first entry of the log is no event: it sets the beginning, on an edge.
func plan(scratch, self, listen, dsn string, n int, seed uint64) (*scenario.Plan, error) {
	random := rand.New(rand.NewPCG(seed, 0))
	var log bytes.Buffer
	fmt.Fprintln(&log, `{"time": 1700000000, "path": "/ready"}`)
	for i := range n {
		at := time.Duration(i+1)*spacing + time.Duration(random.Int64N(int64(width)))
		fmt.Fprintf(&log, `{"time": %q, "path": "/mark?n=%d"}`+"\n", time.Unix(1700000000, 0).Add(at).UTC().Format(time.RFC3339Nano), i)
	}
	if err := os.WriteFile(filepath.Join(scratch, "marks.jsonl"), log.Bytes(), 0o600); err != nil {
		return nil, err
	}
	text := fmt.Sprintf(`
target: {exec: [%q, serve, "-listen", %q, "-dsn", %q], ready: "http://%[2]s/ready"}
load: {replay: {file: marks.jsonl, base: "http://%[2]s"}, duration: %[4]v, max_connections: 1}
observe: {postgres: %[3]q}
`, self, listen, dsn, spacing*time.Duration(n+2))
	return document.Parse(os.DirFS(scratch), "alignment.yaml", []byte(text))
}

// stage is one run: its parts, and the service's own record.
type stage struct {
	clock    timebase.Clock
	plan     *scenario.Plan
	target   *service.Target
	bundle   *record.Writer
	reported lines
}

// lines collects the service's output.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) marks() (all []mark, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for d := json.NewDecoder(&l.text); ; {
		var m mark
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("the service's record: %w", err)
		}
		all = append(all, m)
	}
}

// measure makes n events and returns those that can be assessed.
func measure(ctx context.Context, self string, n int, seed uint64, stderr io.Writer) ([]trial, error) {
	scratch, err := os.MkdirTemp("", "alignment-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	server, err := database.Start(ctx, database.Options{NoDownload: true})
	if err != nil {
		return nil, fmt.Errorf("a database is one of the views: %w", err)
	}
	// Stopped even when ctx has ended: the server is ours.
	defer func() { _ = server.Stop(context.WithoutCancel(ctx)) }()
	listen, err := port.Reserve("127.0.0.1")
	if err != nil {
		return nil, err
	}
	s := &stage{}
	if s.plan, err = plan(scratch, self, listen, server.DSN, n, seed); err != nil {
		return nil, err
	}
	if s.clock, err = timebase.Start(); err != nil {
		return nil, err
	}
	s.target, err = service.Start(ctx, service.Options{
		Target: s.plan.Target, URL: "http://" + listen + "/ready", Clock: s.clock, Window: width,
		Stdout: &s.reported, Stderr: stderr, Phase: func(string) {},
	})
	if err != nil {
		return nil, err
	}
	defer s.target.End()
	dir := filepath.Join(scratch, "bundle")
	s.bundle, err = record.Create(dir, record.Run{Clock: s.clock, Window: width, Target: s.target.Info()})
	if err != nil {
		return nil, err
	}
	health, err := s.conduct(ctx)
	if err = errors.Join(err, s.bundle.Close(record.Complete, "")); err != nil {
		return nil, err
	}
	marks, err := s.reported.marks()
	if err != nil {
		return nil, err
	}
	rec, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	return compare(rec, s.clock, marks, health)
}

// conduct opens the sources, drives the events and closes the sources, as a run
// does.
func (s *stage) conduct(ctx context.Context) ([]record.SourceHealth, error) {
	speaks, err := http1.New(s.plan)
	if err != nil {
		return nil, err
	}
	// On an edge, so that a phase of the log is a phase of a window; in a second
	// the sources have opened.
	start := (s.clock.Now()/width + 11) * width
	steady := load.Steady(s.plan.Load, start)
	info := s.target.Info()
	subject := observe.Subject{
		Clock: s.clock, Window: width, Steady: &steady, PID: info.PID,
		Ring: s.target.Ring(), Socket: s.target.Socket(), DSN: s.plan.Observe.Postgres,
	}
	sources := []observe.Source{
		goruntime.NewMetrics(),
		goruntime.NewTraces(goruntime.Options{Traces: max(1, int(steady.Len()/perTrace)), CPULength: -1, Flights: -1}),
		events.New(), postgres.New(),
	}
	for _, source := range sources {
		if err := source.Open(ctx, subject); err != nil {
			return nil, fmt.Errorf("%s: %w", source.Describe().Name, err)
		}
	}
	watching, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var running sync.WaitGroup
	failed := make([]error, len(sources))
	for i, source := range sources {
		running.Go(func() { failed[i] = source.Run(watching, s.bundle) })
	}
	_, err = load.Run(ctx, load.Config{Plan: s.plan, Clock: s.clock, Protocol: speaks, Record: s.bundle, Start: start})
	cancel()
	running.Wait()
	var health []record.SourceHealth
	for _, source := range sources {
		health = append(health, source.(observe.Reporter).Health())
	}
	return health, errors.Join(append(failed, err)...)
}
