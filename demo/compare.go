package demo

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/verify"
)

// fullTurns is how many turns of a side one launch has where launches are paired.
const fullTurns = 3

// variant is one side of a comparison.
type variant struct {
	rung ladder.Rung
	env  map[string]string
}

// variant returns the rung of a number, or one that is not kept yet.
func (c *climb) variant(rung ladder.Rung, below int) (v variant, err error) {
	v.rung = rung
	v.env, err = switches(c.remedies, append(c.taken(below), rung.Step))
	return v, err
}

// compare measures a rung, above as many others, against the one with the number below.
func (c *climb) compare(ctx context.Context, lower, upper ladder.Rung, below int) (*ladder.Comparison, error) {
	a, err := c.variant(lower, below)
	if err != nil {
		return nil, err
	}
	b, err := c.variant(upper, len(c.result.Rungs))
	if err != nil {
		return nil, err
	}
	return c.pairs(ctx, [2]variant{a, b})
}

// pairsOf is how many pairs of turns a meeting has.
func (c *climb) pairsOf() int {
	if c.Full {
		return fullTurns
	}
	return ladder.Pairs
}

// farApart reports whether the diagnosed runs of two rungs lie so far apart that the pair which
// allows for a neighbour is not needed: what is twice as fast is not turned round by one.
func farApart(a, b float64) bool { return max(a, b) > 2*min(a, b) }

// pairs compares two variants: over the turns of one meeting, or over several meetings.
func (c *climb) pairs(ctx context.Context, sides [2]variant) (*ladder.Comparison, error) {
	turns, meetings := c.pairsOf(), 1
	if c.Full {
		meetings = ladder.Pairs
	}
	if !c.Full && farApart(sides[0].rung.Rate, sides[1].rung.Rate) {
		turns = ladder.Fewest
	}
	var pairs []verify.Pair
	var accounts [2]ladder.Account
	var slot time.Duration
	a, b := sides[0].rung, sides[1].rung
	for n := range meetings {
		m := meeting{climb: c, sides: sides, copies: c.random.Perm(2)}
		m.turns = ladder.Lay(time.Duration(a.P95), time.Duration(b.P95), turns, c.random)
		c.phase(fmt.Sprintf("%s against %s by turns, %d of %d%s", b.Name, a.Name, n+1, meetings, c.remaining(&m.turns, false)))
		if err := c.databases.fresh(ctx); err != nil {
			return nil, err
		}
		met, err := m.measure(ctx)
		c.turned += m.turns.Span()
		var late *spoilt
		if errors.As(err, &late) {
			return &ladder.Comparison{A: a.Name, B: b.Name, Invalid: late.Error()}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s against %s: %w", b.Name, a.Name, err)
		}
		slot = m.turns.Slot()
		for i := range accounts {
			accounts[i] = accounts[i].Plus(m.accounts[i])
		}
		pairs = append(pairs, met...)
	}
	if c.Requests > 0 {
		slot = 0
	}
	out := ladder.Compare(a.Name, b.Name, pairs, c.Seed)
	out.Launches, out.Slot, out.Accounts = meetings, slot, accounts
	return &out, nil
}
