package goruntime

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/goruntime/tally"
	"github.com/redline-go/redline/probe/control"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/timebase"
)

// Operations delivers the target's requests to databases and other services in the
// steady span, from the hooks of redline's build: the difference of two snapshots.
type Operations struct {
	subject observe.Subject
	socket  *socket
	trouble problems
	samples int64
	bracket observe.Bracket
	result  *operation.Operations
	explain []Explainer
}

// Explainer adds a database's plans to the operations of a process.
type Explainer interface {
	// Look notes what is to be seen of the process only under load. It is quick.
	Look(subject observe.Subject)
	// Explain runs once the load is over.
	Explain(ctx context.Context, subject observe.Subject, ops *operation.Operations)
}

// AfterLoad is an Explainer that needs nothing of the process under load.
type AfterLoad func(ctx context.Context, subject observe.Subject, ops *operation.Operations)

// Look implements Explainer.
func (AfterLoad) Look(observe.Subject) {}

// Explain implements Explainer.
func (f AfterLoad) Explain(ctx context.Context, subject observe.Subject, ops *operation.Operations) {
	f(ctx, subject, ops)
}

// looks is how often explainers look at the process in the steady span: a service that opens its database for each
// request has it open only now and then.
const looks = 10

var (
	_ observe.Source   = (*Operations)(nil)
	_ observe.Reporter = (*Operations)(nil)
	_ observe.Storer   = (*Operations)(nil)
)

// NewOperations returns the source.
func NewOperations(explain ...Explainer) *Operations { return &Operations{explain: explain} }

// Describe implements observe.Source.
func (o *Operations) Describe() observe.Description {
	return observe.Description{
		Name:  "operations",
		Doc:   "Statements and calls to other services, exactly: how often, how long, by whom, with how many rows and new connections.",
		Needs: "a target that redline builds (--build).",
		Cost:  "about 0.5 us per statement or call in the target, 2 us in trace windows.",
	}
}

// Open implements observe.Source. A target with a probe but without hooks was not built
// by redline, or with --no-instrument, so the error has NotAsked set.
func (o *Operations) Open(ctx context.Context, subject observe.Subject) error {
	const enable = "let redline build the target with hooks (--build PKG, without --no-instrument)"
	if subject.Socket == "" {
		return &observe.Unsupported{What: "no probe in the target, so its statements and calls are not counted",
			Enable: enable, NotAsked: true}
	}
	o.subject, o.socket = subject, &socket{path: subject.Socket, clock: subject.Clock}
	if err := o.socket.check(ctx); err != nil {
		return &observe.Unsupported{What: "the probe in the target does not answer", Enable: enable, Err: err}
	}
	if _, _, err := o.snapshot(ctx); err != nil {
		var remote *control.RemoteError
		return &observe.Unsupported{What: "the target does not count its statements and calls", Enable: enable, Err: err,
			NotAsked: errors.As(err, &remote)}
	}
	return nil
}

// maxOperations bounds a snapshot, in bytes: that of a full table is below it.
const maxOperations = 64 << 20

// snapshot reads the counters once. The instant is the middle of the probe's own clock
// readings around its writing.
func (o *Operations) snapshot(ctx context.Context) (*tally.Tally, time.Duration, error) {
	c, err := o.socket.ask(ctx, control.Request{Op: control.Operations}, maxOperations)
	if err != nil {
		return nil, 0, err
	}
	t, err := tally.Parse(bytes.NewReader(c.data))
	return t, o.bracket.Add(c.span.From, c.span.To), err
}

// Run implements observe.Source.
func (o *Operations) Run(ctx context.Context, _ observe.Sink) error {
	first, last := snapshots(o.subject.Measured())
	if !sleepUntil(ctx, o.subject.Clock, first) {
		o.trouble.add("the run ended before its steady span")
		return nil
	}
	before, from, err := o.snapshot(ctx)
	if err != nil {
		o.trouble.add("operations: %v", err)
		<-ctx.Done()
		return nil
	}
	for i := range looks {
		for _, e := range o.explain {
			e.Look(o.subject)
		}
		if !sleepUntil(ctx, o.subject.Clock, first+(last-first)*time.Duration(i+1)/looks) {
			break
		}
	}
	// The run's end must not take the second snapshot with it.
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), overhang)
	defer cancel()
	after, to, err := o.snapshot(end)
	if err != nil {
		o.trouble.add("operations: %v", err)
	} else {
		o.samples = 2
		o.result = after.Since(before, timebase.Span{From: from, To: to})
	}
	<-ctx.Done()
	if o.result == nil {
		return nil
	}
	for _, e := range o.explain {
		e.Explain(context.WithoutCancel(ctx), o.subject, o.result)
	}
	return nil
}

// Store implements observe.Storer.
func (o *Operations) Store() (file string, value any, err error) {
	if o.result == nil {
		return "", nil, nil
	}
	return operation.File, o.result, nil
}

// Health implements observe.Reporter.
func (o *Operations) Health() record.SourceHealth {
	if o.result != nil && o.result.Others > 0 {
		o.trouble.add("%d calls were of more statements and routes than the probe keeps apart (4,096): their texts differ in more "+
			"than values", o.result.Others)
	}
	if o.result != nil && o.result.Postgres != nil && o.result.Postgres.Why != "" {
		o.trouble.add("no plans of the statements that PostgreSQL does not count: %s", o.result.Postgres.Why)
	}
	return record.SourceHealth{
		Name: o.Describe().Name, OK: o.samples > 0, Why: strings.Join(o.trouble.texts, "; "),
		Samples: o.samples, Align: o.bracket.Align(),
	}
}
