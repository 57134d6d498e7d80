package session

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/verify"
)

// first measures the first pair of both sides, and by it settles how pairs are
// measured: by turns if the Measurer can and both sides work well that way,
// otherwise with one side up at a time. An interrupted session continues as its log
// says.
func (s *Session) first(ctx context.Context) (verify.Pair, error) {
	s.turn, s.apart, s.looks = 0, "", 0
	if err := s.Resumable(); err != nil {
		return verify.Pair{}, err
	}
	if p, ok := s.Log.pair(compared, 0); ok {
		s.turn = p.Turn
		return p, nil
	}
	if s.alternates() {
		p, why := s.tryTurns(ctx)
		if why == "" {
			return p, s.Log.add(compared, 0, p)
		}
		s.turn, s.apart = 0, why
	}
	return s.pair(ctx, s.A, s.B, compared, 0)
}

func (s *Session) alternates() bool {
	_, ok := s.Measurer.(Alternator)
	return ok && !s.OneAtATime
}

// Resumable returns an error if this session cannot continue the log of the
// interrupted one: pairs measured by turns and one side at a time have different
// noise.
func (s *Session) Resumable() error {
	if p, ok := s.Log.pair(compared, 0); ok && p.Turn > 0 && !s.alternates() {
		return fmt.Errorf("the session began with turns of %v and would continue with one side up at a time "+
			"(hint: without --one-at-a-time and --save-baseline, or start over with another -o)", p.Turn)
	}
	return nil
}

// tryTurns finds the shortest turn that contains several requests. After any
// failure the session tries again with one side up at a time, and reports the
// failure then if it is the side's fault. why says what went wrong, in one line; ""
// if turns work.
func (s *Session) tryTurns(ctx context.Context) (p verify.Pair, why string) {
	for s.turn = leastTurn; s.turn <= mostTurn; {
		p, err := s.measure(ctx, s.A, s.B, compared, 0)
		switch {
		case err != nil:
			why, _, _ = strings.Cut(err.Error(), "\n")
			return p, why
		case voided(p) != "":
			return p, voided(p)
		case p.A.Errors > 0 || p.B.Errors > 0:
			return p, "requests failed while both were up"
		case fits(s.turn, p.A, p.B):
			return p, ""
		}
		// Requests that took too long between turns are not measured with turns
		// again.
		for s.turn *= 2; s.turn <= mostTurn && !fits(s.turn, p.A, p.B); {
			s.turn *= 2
		}
	}
	return p, fmt.Sprintf("one request in ten takes longer than the %s between two turns", notation.Time(rest(mostTurn)))
}

// pair measures a pair, or takes it from the log of an earlier, interrupted
// session.
func (s *Session) pair(ctx context.Context, a, b Side, kind string, n int) (verify.Pair, error) {
	if p, ok := s.Log.pair(kind, n); ok {
		return p, nil
	}
	p, err := s.measure(ctx, a, b, kind, n)
	if err != nil {
		return verify.Pair{}, &sideError{err}
	}
	return p, s.Log.add(kind, n, p)
}

// measure measures one block of each side in random order: the order decides which
// is launched first and has the first turn.
func (s *Session) measure(ctx context.Context, a, b Side, kind string, n int) (p verify.Pair, err error) {
	// The order depends only on the seed and the pair's number, so that a resumed
	// session keeps it. Every other pair reverses the previous order, so that a
	// steady drift of the machine cancels.
	stream := uint64(n/2) << 1
	if kind == compared {
		stream |= 1
	}
	rng := rand.New(rand.NewPCG(s.Rules.Seed, stream))
	sides, blocks := []Side{a, b}, []*verify.Block{&p.A, &p.B}
	if rng.IntN(2) != n%2 {
		slices.Reverse(sides)
		slices.Reverse(blocks)
		p.BFirst = true
	}
	begun := time.Now()
	defer func() {
		s.took = time.Since(begun)
		p.Took = s.took
	}()
	if p.Turn = s.turn; s.turn > 0 {
		*blocks[0], *blocks[1], err = s.Measurer.(Alternator).Alternate(ctx, sides[0], sides[1], Course{Turn: s.turn, Each: s.each})
		return p, err
	}
	for i, side := range sides {
		if *blocks[i], err = s.Measurer.Measure(ctx, side); err != nil {
			return p, err
		}
	}
	return p, nil
}

// crowded counts the pairs in which requests did not end between two turns.
func (s *Session) crowded(pairs []verify.Pair) (n int) {
	for _, p := range pairs {
		if p.Turn > 0 && !fits(p.Turn, p.A, p.B) {
			n++
		}
	}
	return n
}

// early measures the first pairs, and decides on them if the sides differ beyond doubt. The
// verdict is inconclusive if they do not, and invalid if they could not be measured.
func (s *Session) early(ctx context.Context, pairs []verify.Pair, begun time.Time) ([]verify.Pair, verify.Result, error) {
	for len(pairs) < verify.EarlyPairs {
		if s.Log.count(compared) <= len(pairs) && time.Since(begun)+s.took > s.maxTime() {
			break
		}
		p, err := s.pair(ctx, s.A, s.B, compared, len(pairs))
		if err != nil {
			out, err := s.unmeasured(ctx, nil, pairs, err)
			return pairs, out, err
		}
		if pairs = append(pairs, p); voided(p) != "" {
			return pairs, s.refused(nil, pairs, voided(p)), nil
		}
		s.describe(Progress{Phase: fmt.Sprintf("pair %d", len(pairs)), Pairs: len(pairs), Left: s.maxTime() - time.Since(begun)})
	}
	out, decided := verify.Early(pairs, s.Rules)
	if !decided {
		return pairs, verify.Result{Verdict: verify.Inconclusive}, nil
	}
	return pairs, s.completed(out), nil
}

// sames is the number of pairs of side a with itself for which there is time, if one
// takes each.
func (s *Session) sames(each time.Duration) int {
	if each*samePairs <= s.maxTime()/sameShare {
		return samePairs
	}
	return s.Log.count(identical)
}

// same compares side A with itself and returns the duration of a pair, which is expected
// to be about each.
func (s *Session) same(ctx context.Context, begun time.Time, each time.Duration) (aa []verify.Pair, spent time.Duration, err error) {
	again, started, most := s.A, time.Now(), s.sames(each)
	measured := s.Log.count(identical) == 0 // rather than read from an interrupted session's log
	for len(aa) < most {
		p, err := s.pair(ctx, s.A, again, identical, len(aa))
		if err != nil {
			return aa, 0, err
		}
		if aa = append(aa, p); p.A.Void+p.B.Void != "" {
			break
		}
		s.describe(Progress{Phase: fmt.Sprintf("comparing side a with itself, %d of %d", len(aa), most),
			Left: s.maxTime() - time.Since(begun)})
	}
	if spent = each; len(aa) > 0 && measured {
		spent = time.Since(started) / time.Duration(len(aa))
	}
	return aa, spent, nil
}

// arrange plans the turns of later pairs by the first ones, and returns how long a pair will take.
// Pairs that are measured one side at a time stay as they are.
func (s *Session) arrange(pairs []verify.Pair) time.Duration {
	c, ok := verify.EstimateComponents(pairs)
	var took, turns []float64
	for _, p := range pairs {
		if p.Took > 0 {
			took, turns = append(took, p.Took.Seconds()), append(turns, float64(len(p.A.Turns)))
		}
	}
	typical := time.Duration(stat.Median(took) * float64(time.Second))
	if !ok || s.turn <= 0 || len(took) == 0 {
		return max(typical, s.took)
	}
	turn := 2 * (s.turn + rest(s.turn))
	launch := max(0, typical-time.Duration(stat.Median(turns))*turn)
	s.each = min(max(c.Turns(launch, turn), leastTurns), mostTurns)
	s.plan = verify.Plan{Turns: s.each, Launch: launch, Turn: turn}
	return launch + time.Duration(s.each)*turn
}

// launching says how much of a pair's time its launches take, if that is most of
// it.
func (s *Session) launching(each time.Duration) string {
	if 2*s.plan.Launch < each {
		return ""
	}
	return fmt.Sprintf(": a pair takes %s, of which %s pass before its first turn", notation.Time(each), notation.Time(s.plan.Launch))
}

// announce reports the plan, once the number of pairs is known.
func (s *Session) announce(most int) {
	if s.plan.Turns > 0 {
		s.plan.Pairs = most
		s.describe(Progress{Plan: fmt.Sprintf("plan: at most %d pairs of launches with %d turns each: a launch costs %s and a "+
			"turn of both sides %s", most, s.plan.Turns, notation.Time(s.plan.Launch), notation.Time(s.plan.Turn))})
	}
}

// account adds to a result the plan, the sources of noise, how often such a session errs, and
// reasons for doubt.
func (s *Session) account(out *verify.Result, aa, pairs []verify.Pair) {
	c, ok := verify.EstimateComponents(pairs)
	if ok {
		out.Noise = &c
	}
	if s.plan.Turns > 0 {
		plan := s.plan
		out.Plan = &plan
	}
	if !s.Plain {
		out.AA = verify.Errors(aa, pairs, s.Rules.Planned, s.Rules)
	}
	if n := s.crowded(pairs); 2*n > len(pairs) {
		out.Warnings = append(out.Warnings, fmt.Sprintf("in %d of %d pairs one request in ten took longer "+
			"than the %s between two turns, so both sides worked at once: a shared bottleneck slows both "+
			"alike (hint: --one-at-a-time)", n, len(pairs), notation.Time(rest(s.turn))))
	}
	out.Warnings = append(out.Warnings, verify.Limits(pairs)...)
	if len(out.AA.Different) > 0 {
		out.Warnings = append(out.Warnings, "side a differed from itself by "+strings.Join(out.AA.Different,
			", ")+": this machine is too noisy for reliable verdicts")
	}
}
