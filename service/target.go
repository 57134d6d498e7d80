// Package service gets the service under test: builds it with the probe
// injected, starts it, waits until it is ready, watches it, and ends it.
//
// It ends only processes that it started: a target that was already running is left
// running. What it started dies with redline, however redline dies; see package guard.
//
// The probe is injected with `go build -overlay`: virtual packages inside the
// user's module and one virtual file in the main package, so the source tree is
// not touched. A program that imports the probe itself is built as it is. A
// command that has no probe is started with GODEBUG=gctrace=1. Rewriting the
// source, a toolchain wrapper and LD_PRELOAD were rejected: the first two break caches
// and vendoring, the last does not see Go code.
package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/redline-go/redline/probe/control"
	"github.com/redline-go/redline/probe/env"
	"github.com/redline-go/redline/probe/ring"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/service/scratch"
)

// Options says which target to get and how.
type Options struct {
	Target scenario.Target
	// URL is where the load will go; its host and port identify readiness and the
	// listening process unless Target says more.
	URL    string
	Clock  timebase.Clock
	Window time.Duration
	// Blind starts the target without giving a probe a place to write: the
	// probe then does nothing at all. Overhead is measured against it.
	Blind bool
	// Binary is a binary that an earlier Build made from Target.Build; empty means to
	// build.
	Binary string
	// Hide takes secrets out of the target's kept output; nil knows those of
	// Target and of redline's own environment.
	Hide *redact.Redactor
	// Stdout and Stderr take the target's output; nil discards it (its last
	// lines are kept in any case).
	Stdout, Stderr io.Writer
	// Phase, if set, receives the present step: "building ./cmd/svc".
	Phase func(string)
	// TLS is how Target.Ready is asked over https; nil checks the server against the system's roots.
	TLS *tls.Config
}

// Target is a service under test that is ready.
type Target struct {
	info   record.Target
	ring   string
	socket string
	dir    *scratch.Folder // for the binary, removed by End
	shared *scratch.Folder // of the probe's ring and socket, removed by End
	proc   *process        // nil if it was already running
	gc     *gcLines        // nil unless its runtime prints its collections
}

// Start gets the target ready. On error nothing that it started is left.
func Start(ctx context.Context, o Options) (*Target, error) {
	if o.Hide == nil {
		o.Hide = (&scenario.Plan{Target: o.Target}).Redactor(os.Environ())
	}
	dir, err := scratch.New("target")
	if err != nil {
		return nil, err
	}
	shared, err := scratch.Shared("ring")
	if err != nil {
		return nil, errors.Join(err, dir.Remove())
	}
	t := &Target{dir: dir, shared: shared, info: record.Target{URL: o.Hide.Text(o.URL)}}
	if err := t.start(ctx, o); err != nil {
		t.End()
		return nil, err
	}
	return t, nil
}

func (t *Target) start(ctx context.Context, o Options) error {
	command, err := t.command(ctx, o)
	if err != nil {
		return err
	}
	if command != nil {
		if err := checkFree(ctx, o.URL); err != nil {
			return err
		}
		added := environment(o.Target.Env)
		if !o.Blind {
			added = append(added, t.probeEnvironment(o)...)
			if t.info.How == "exec" {
				t.gc, added = gcTrace(command, added)
			}
		}
		o.phase("starting " + filepath.Base(command[0]))
		t.proc, err = startProcess(command, o.Target.Dir, added, o.Hide, o.Stdout, o.Stderr, t.gc)
		if err != nil {
			return fmt.Errorf("start target: %w", err)
		}
		t.info.Command = o.Hide.Args(command)
	}
	o.phase("waiting until the target is ready")
	if err := waitReady(ctx, o, t.proc); err != nil {
		return err
	}
	t.identify(ctx, o)
	return nil
}

// command returns the command line to start, nil when the target runs already.
func (t *Target) command(ctx context.Context, o Options) ([]string, error) {
	switch {
	case o.Target.Build != "":
		t.info.How = "build"
		binary := o.Binary
		if binary == "" {
			o.phase("building " + o.Target.Build)
			binary = filepath.Join(t.dir.Path, "target")
			if err := t.build(ctx, o, binary); err != nil {
				return nil, err
			}
		}
		return append([]string{binary}, o.Target.Args...), nil
	case len(o.Target.Exec) > 0:
		t.info.How = "exec"
		return append(append([]string{}, o.Target.Exec...), o.Target.Args...), nil
	case o.Target.PID != 0:
		t.info.How, t.info.PID = "pid", o.Target.PID
	default:
		t.info.How = "url"
	}
	return nil, nil
}

func (t *Target) build(ctx context.Context, o Options, binary string) error {
	if o.Target.Plain {
		return Build(ctx, o.Target.Build, binary, o.Target.BuildFlags...)
	}
	done, err := BuildInstrumented(ctx, o.Target.Build, binary, o.Target.BuildFlags...)
	t.info.Instrumented, t.info.NotInstrumented = done.Packages, done.Left
	return err
}

func (t *Target) probeEnvironment(o Options) []string {
	ring := filepath.Join(t.shared.Path, "ring")
	socket := filepath.Join(t.shared.Path, "probe.sock")
	t.ring, t.socket = ring, socket
	return env.Config{
		Ring: ring, Socket: socket, EpochMonotonic: o.Clock.EpochMonotonic,
		EpochWall: o.Clock.EpochWall.UnixNano(), Window: o.Window, Agent: os.Getpid(),
	}.Environ()
}

// identify finds the serving process and its Go program. What
// cannot be found stays empty: not every target is local, this user's or Go.
func (t *Target) identify(ctx context.Context, o Options) {
	if t.proc != nil {
		t.info.PID = t.proc.pid()
	}
	// A process that the user named is observed even where another one holds the socket: a proxy's, or a parent's.
	if pid, err := listener(ctx, o.URL, t.info.PID); err == nil && o.Target.PID == 0 {
		t.info.PID = pid
	}
	describeBinary(&t.info)
	probed := t.probed(ctx)
	if t.info.ProbeElsewhere = t.supervises(); !probed {
		t.info.ProbeElsewhere = t.noRing(ctx)
	}
	if probed && t.info.ProbeElsewhere == "" {
		t.info.Probe = true
	} else {
		t.ring, t.socket = "", ""
	}
}

// probeWithin is how long a service that redline built may take to start its probe. The probe does not hold up main, so that a
// service may answer before it is there; on a busy host it has waited for a CPU meanwhile.
const probeWithin = 2 * time.Second

// probed reports whether a probe runs in what redline started. A build has one, and is waited for.
func (t *Target) probed(ctx context.Context) bool {
	there := func() bool { _, err := os.Stat(t.ring); return err == nil }
	if t.ring == "" || t.info.How != "build" {
		return t.ring != "" && there()
	}
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	tick := time.NewTicker(readyInterval)
	defer tick.Stop()
	for !there() {
		select {
		case <-tick.C:
		case <-t.proc.done:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// supervises says that the process that redline started runs the probe, and another one that it started serves the load: what the
// probe would show is a process that waits for its child. "" if that is not so.
func (t *Target) supervises() string {
	if t.proc == nil || t.info.PID == t.proc.pid() {
		return ""
	}
	r, err := ring.Open(t.ring)
	if err != nil {
		return ""
	}
	defer r.Close()
	if r.Header.PID != t.proc.pid() {
		return ""
	}
	return fmt.Sprintf("process %d serves the address that is loaded, and process %d, which started it, runs the probe: "+
		"profiles, traces and runtime figures are missing (hint: start the service without its supervisor, by a flag, a subcommand or a "+
		"variable of its own)", t.info.PID, t.proc.pid())
}

// noRing says why a probe that runs writes no figures; "" if none runs, or if it does not say.
func (t *Target) noRing(ctx context.Context) string {
	if t.socket == "" {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, probeWithin)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", t.socket)
	if err != nil {
		return ""
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	var facts strings.Builder
	if _, err := io.WriteString(conn, control.Request{Op: control.Info}.String()+"\n"); err != nil {
		return ""
	}
	if _, err := control.Receive(conn, &facts, 1<<16); err != nil {
		return ""
	}
	for line := range strings.Lines(facts.String()) {
		if why, ok := strings.CutPrefix(strings.TrimSpace(line), control.NoRing); ok {
			return fmt.Sprintf("the probe writes no figures: %s: profiles, traces and runtime figures are missing", why)
		}
	}
	return ""
}

// Info describes the target for the record.
func (t *Target) Info() record.Target { return t.info }

// Ring returns the path of the probe's shared memory, "" without a probe.
func (t *Target) Ring() string { return t.ring }

// Socket returns the path of the probe's control socket, "" without a probe.
func (t *Target) Socket() string { return t.socket }

// Panicked says how often the target panicked while serving, with the first panic's
// message and place; "" if it did not, or if redline did not start it.
func (t *Target) Panicked() string {
	if t.proc == nil {
		return ""
	}
	return t.proc.tail.panicked()
}

// GCTrace returns the reader of the lines that the target's runtime prints of its
// collections, oldest first, with when each came; nil when it prints none.
func (t *Target) GCTrace() func() (came time.Time, line string, ok bool) {
	if t.gc == nil {
		return nil
	}
	return t.gc.read
}

// Unguarded says why the target's children may survive if redline is killed; empty if
// they do not, and for a target that we did not start.
func (t *Target) Unguarded() string {
	if t.proc == nil {
		return ""
	}
	return t.proc.Unguarded()
}

// Exited is closed when a target that we started ends; it is nil, and so never
// ready, for one that we did not start.
func (t *Target) Exited() <-chan struct{} {
	if t.proc == nil {
		return nil
	}
	return t.proc.done
}

// Exit returns how the target ended; nil while it runs or if we did not start it. The
// time is on the given clock.
func (t *Target) Exit(c timebase.Clock) *record.Exit {
	if t.proc == nil {
		return nil
	}
	return t.proc.exit(c)
}

// End ends the target if we started it, politely first, and removes scratch
// files. It may be called more than once.
func (t *Target) End() {
	if t.proc != nil {
		t.proc.end()
	}
	// Leftovers are swept later.
	_ = t.dir.Remove()
	_ = t.shared.Remove()
}

func (o Options) phase(text string) {
	if o.Phase != nil {
		o.Phase(text)
	}
}
