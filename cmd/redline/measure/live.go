package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/histogram"
	"github.com/redline-go/redline/record/series"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/redact"
	"github.com/redline-go/redline/run"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/web/live"
)

// webAlone is the value of --web without an address.
const webAlone = "127.0.0.1:0"

// watched is a run with its page in a browser; nil for one without, whose methods do nothing.
type watched struct {
	page *live.Page
	view *cli.View        // which shows the assessments too
	hide *redact.Redactor // others may see the page
}

var _ run.Follower = (*watched)(nil)

// watch opens the page that --web asks for and prints its URL. stop ends the run early.
func (f *Flags) watch(cmd *cobra.Command, view *cli.View, plan *scenario.Plan, stop context.CancelCauseFunc) (*watched, error) {
	if f.web == "" {
		return nil, nil
	}
	w := &watched{view: view, hide: plan.Redactor(os.Environ())}
	var err error
	w.page, err = live.Open(cmd.Context(), live.Options{
		Address: f.web, Token: os.Getenv(live.Variable), Title: w.hide.Text(string(plan.Requests[0].URL)),
		Stop: func() { stop(run.ErrStopped) }, Assess: w.assess,
		Note: func(text string) { view.Event(run.Event{Warning: text}) },
	})
	if err != nil {
		return nil, fmt.Errorf("--web: %w", err)
	}
	view.Pause(func() { inert.Fprintf(cmd.ErrOrStderr(), "watch it at %s\n", w.page.URL()) })
	return w, nil
}

// addressOfWeb removes the address from the arguments if it follows --web after a space, as if the
// flag required a value.
func (f *Flags) addressOfWeb(args []string) []string {
	if len(args) != 2 {
		return args
	}
	return WebAddress(&f.web, args)
}

// Event shows an event of the run on the page.
func (w *watched) Event(e run.Event) {
	if w == nil {
		return
	}
	shown := live.Event{Phase: w.hide.Text(e.Phase), Message: w.hide.Text(e.Warning), Traced: e.Traced,
		QueryID: e.Statement.QueryID, Text: e.Statement.Text}
	if p := e.Load; p != nil {
		shown.Window = &live.Window{Done: p.Done, Total: p.Total, Warmup: p.Warmup, Rate: p.Rate, P50: p.Latency.P50, P90: p.Latency.P90,
			P99: p.Latency.P99, Max: p.Latency.Max, InFlight: p.InFlight, LagP99: p.LagP99, CPU: p.CPU}
	}
	w.page.Event(shown)
}

// assess assesses what is recorded so far, for the page and for the terminal.
func (w *watched) assess(ctx context.Context, dir string) (*record.Summary, error) {
	s, err := assessSoFar(ctx, dir)
	if err == nil {
		w.view.SoFar(s)
	}
	return s, err
}

// followers are the page and the terminal's view; either may show nothing.
type followers struct {
	page *watched
	view *cli.View
}

var _ run.Follower = followers{}

// Begin implements run.Follower.
func (f followers) Begin(r run.Recording) {
	if f.page != nil {
		f.page.Begin(r)
	}
	f.view.Begin(r)
}

// Add implements run.Follower.
func (f followers) Add(points []series.Point) {
	if f.page != nil {
		f.page.Add(points)
	}
	f.view.Add(points)
}

// Counts implements run.Follower.
func (f followers) Counts(kind histogram.Kind, s timebase.Span, c *histogram.Counts) {
	if f.page != nil {
		f.page.Counts(kind, s, c)
	}
	f.view.Counts(kind, s, c)
}

// Begin implements run.Follower.
func (w *watched) Begin(r run.Recording) {
	w.page.Begin(live.Recording{Dir: r.Dir, Run: r.Run, Steady: r.Steady, Hide: r.Hide, Mark: r.Mark})
}

// Add implements run.Follower.
func (w *watched) Add(points []series.Point) { w.page.Add(points) }

// Counts implements run.Follower.
func (w *watched) Counts(kind histogram.Kind, s timebase.Span, c *histogram.Counts) {
	w.page.Counts(kind, s, c)
}

// recorded reports that the load is over and the bundle closed.
func (w *watched) recorded() {
	if w != nil {
		w.page.StopAssessing()
	}
}

// finish shows how the run ended: the report, or why there is none.
func (w *watched) finish(rec *record.Record, summary *record.Summary, err error) {
	if w == nil {
		return
	}
	why := ""
	if err != nil {
		why = w.hide.Text(err.Error())
	}
	w.page.Finish(rec, summary, why)
}

// Close sends the end to all viewers; the process waits at most half a minute for them.
func (w *watched) Close() {
	if w != nil {
		w.page.Close()
	}
}

// assessSoFar assesses a bundle that is still being written. It does so in a process of its own, which uses only
// idle CPU: within this one it would share the garbage collector with the generator.
func assessSoFar(ctx context.Context, dir string) (*record.Summary, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child := exec.CommandContext(ctx, self, "diagnose", "--so-far", dir)
	child.Env = append(os.Environ(), "GOMAXPROCS=1")
	child.WaitDelay = time.Second
	var out, errs bytes.Buffer
	child.Stdout, child.Stderr = &out, &limited{w: &errs, left: 4 << 10}
	if err := child.Run(); err != nil {
		if text := strings.TrimSpace(errs.String()); text != "" {
			err = errors.New(strings.TrimPrefix(text, "redline: "))
		}
		return nil, err
	}
	var s record.Summary
	if err := json.Unmarshal(out.Bytes(), &s); err != nil {
		return nil, err
	}
	return &s, nil
}

// limited writes the first bytes and drops the rest.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(l.left, len(p))
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}
