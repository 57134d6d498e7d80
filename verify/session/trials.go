package session

import (
	"context"
	"fmt"
	"time"

	"github.com/redline-go/redline/verify"
)

// Trials measures single pairs of one side, A, with changing others, in the way of a
// Session. A search for a setting consists of trials; a Session then decides on its result.
type Trials struct {
	A          Side
	Measurer   Measurer
	OneAtATime bool
	Seed       uint64 // of the order within pairs

	s Session
}

// FailedError is a side that could not be measured although A could.
type FailedError struct {
	Err error // why
	// Spoilt is set if the load generator could not keep up, which is not the side's
	// fault.
	Spoilt bool
}

func (e *FailedError) Error() string { return e.Err.Error() }

func (e *FailedError) Unwrap() error { return e.Err }

// Settle measures A with itself, and so settles whether pairs are measured by turns. The
// error is A's: it does not start, or serves nothing.
func (t *Trials) Settle(ctx context.Context) (verify.Pair, error) {
	again := t.A
	again.Name = "b"
	t.s = Session{A: t.A, B: again, Measurer: t.Measurer, OneAtATime: t.OneAtATime, Rules: verify.Rules{Seed: t.Seed}}
	p, err := t.s.first(ctx)
	if err == nil && voided(p) != "" {
		err = fmt.Errorf("the present setting was not measured: %s", voided(p))
	}
	return p, err
}

// Turn is how long each side is loaded while both are up; zero if one is up at a time, and
// then why gives the reason, unless that was requested.
func (t *Trials) Turn() (turn time.Duration, why string) { return t.s.turn, t.s.apart }

// Took is how long the last pair took, without the preceding attempts to take turns.
func (t *Trials) Took() time.Duration { return t.s.took }

// Pair measures A with b; n is the number of the pair. A *FailedError means that b
// could not be measured alone either. Other errors are the context's and A's.
func (t *Trials) Pair(ctx context.Context, b Side, n int) (verify.Pair, error) {
	if t.s.turn > 0 {
		p, err := t.s.measure(ctx, t.A, b, compared, n)
		if ctx.Err() != nil || err == nil && voided(p) == "" {
			return p, err
		}
		// Both at once may need more than is available, such as database connections.
	}
	return t.apart(ctx, b, n)
}

// apart measures one side at a time, and so finds which of them fails.
func (t *Trials) apart(ctx context.Context, b Side, n int) (p verify.Pair, err error) {
	begun := time.Now()
	defer func() { t.s.took = time.Since(begun) }()
	sides := []func() error{
		func() (err error) {
			if p.A, err = t.Measurer.Measure(ctx, t.A); err == nil && p.A.Void != "" {
				err = fmt.Errorf("the present setting was not measured: %s", p.A.Void)
			}
			return err
		},
		func() (err error) {
			if p.B, err = t.Measurer.Measure(ctx, b); err != nil {
				err = &FailedError{Err: err}
			} else if p.B.Void != "" {
				err = &FailedError{fmt.Errorf("%s", p.B.Void), spoilt(p.B.Void)}
			}
			return err
		},
	}
	if n%2 == 1 {
		sides[0], sides[1] = sides[1], sides[0]
	}
	for _, measure := range sides {
		if err := measure(); err != nil {
			if ctx.Err() != nil {
				return p, context.Cause(ctx)
			}
			return p, err
		}
	}
	return p, nil
}
