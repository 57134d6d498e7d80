package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/verify"
)

// Defaults of a session.
const (
	// DefaultMaxTime bounds a session if nothing else does.
	DefaultMaxTime = 10 * time.Minute
	// MostPairs is the number beyond which more pairs hardly help: the interval
	// shrinks with their square root.
	MostPairs = 120
	// samePairs is the number of pairs of side A with itself: the fewest in which a signed-rank
	// test can find a difference at 5 % (2^(1-6) = 3 %). If they would take too much of a session's
	// time (see sameShare) it has none: the compared pairs show the noise as well.
	samePairs, sameShare = 6, 16
)

// Session compares two sides.
type Session struct {
	A, B     Side
	Measurer Measurer
	Rules    verify.Rules
	// OneAtATime keeps one side up at a time, even if both could be up and take
	// turns.
	OneAtATime bool
	// MaxTime bounds the whole session; zero means DefaultMaxTime. Pairs caps the
	// pairs; zero means MostPairs.
	MaxTime time.Duration
	Pairs   int
	// Plain leaves AA's simulated error rates out of the result. They decide nothing and take half a
	// second, too long for simulations of many sessions.
	Plain bool
	// Log keeps the blocks as they are measured; nil keeps none.
	Log *Log
	// OnProgress, if set, is called after every block. It must not block.
	OnProgress func(Progress)

	turn  time.Duration // of each side, while both are up; zero for one at a time
	apart string        // why the sides do not take turns
	took  time.Duration // the last pair that was measured
	each  int           // turns per side in a pair; 0 before there is a plan
	plan  verify.Plan
	looks int // taken
}

// Run measures until a look decides, or until the session's time or pairs are used
// up. If ctx ends, the measurements stay in the Log, and the error is ctx's.
//
// A side that could not be measured (it did not start, or ended) and blocks that do
// not count (the generator was saturated, nothing was served) end the session as
// invalid, without an error. Other errors come from keeping the log.
func (s *Session) Run(ctx context.Context) (verify.Result, error) {
	begun := time.Now()
	// One pair comes first, so that a side that does not start or serve is reported
	// before minutes are spent on comparing the other with itself.
	first, err := s.first(ctx)
	if err != nil {
		return s.unmeasured(ctx, nil, nil, err)
	}
	pairs := []verify.Pair{first}
	if why := voided(first); why != "" {
		return s.refused(nil, pairs, why), nil
	}
	s.Rules.Early = true
	if name := s.lacking(first); name != "" {
		return s.refused(nil, pairs, fmt.Sprintf("the target does not deliver %s, which the scenario asks "+
			"for (hint: build it, so that the probe is in it, or verify: {%s: off})", name, name)), nil
	}
	s.describe(Progress{Phase: "both sides serve", Left: s.maxTime() - time.Since(begun)})
	pairs, out, err := s.early(ctx, pairs, begun)
	if err != nil || out.Verdict != verify.Inconclusive {
		return out, err
	}
	// This is known by now, so it is reported now and not after all the time is
	// spent.
	each := s.arrange(pairs)
	if least := time.Since(begun) + s.least(pairs, each); least > s.maxTime() {
		return s.refused(nil, pairs, fmt.Sprintf("too little time: %s not differ beyond doubt, and otherwise at least %d pairs "+
			"are needed, which take %s%s (hint: --max-time)", notation.Counted(int64(len(pairs)), "pair does", "pairs do"),
			s.Rules.Least(), notation.Time(least), s.launching(each))), nil
	}
	aa, spent, err := s.same(ctx, begun, each)
	if err != nil {
		return s.unmeasured(ctx, aa, pairs, err)
	}
	if why := invalid(aa); why != "" {
		return s.refused(aa, pairs, "side a: "+why), nil
	}
	dropped := s.drop(aa, pairs)
	most := s.affordable(pairs, begun, spent)
	if least := s.Rules.Least(); most < least {
		return s.refused(aa, pairs, fmt.Sprintf("there is time for %s; at least %d are needed for a "+
			"verdict (hint: --max-time)", notation.Counted(int64(most), "pair", ""), least)), nil
	}
	s.Rules = s.Rules.Plan(most)
	s.announce(most)
	pairs, out, err = s.grow(ctx, pairs, aa, begun, spent)
	if err != nil || out.Verdict == verify.Invalid {
		return out, err
	}
	s.account(&out, aa, pairs)
	out.Warnings = append(out.Warnings, dropped...)
	return out, nil
}

// grow measures pairs until a look decides. If time runs out early, because pairs
// take longer than those of side a with itself, the next look is the last. A look
// with fewer pairs than planned does not err more often: it is only more correlated
// with the looks before it.
func (s *Session) grow(ctx context.Context, pairs, aa []verify.Pair, begun time.Time,
	each time.Duration) ([]verify.Pair, verify.Result, error) {
	for look := 1; ; look++ {
		due, last := s.Rules.Due(look)
		for len(pairs) < due {
			if s.Log.count(compared) <= len(pairs) && time.Since(begun)+max(each, s.took) > s.maxTime() {
				look, last = s.Rules.Looks, true
				break
			}
			p, err := s.pair(ctx, s.A, s.B, compared, len(pairs))
			if err != nil {
				out, err := s.unmeasured(ctx, aa, pairs, err)
				return pairs, out, err
			}
			if pairs = append(pairs, p); voided(p) != "" {
				return pairs, s.refused(aa, pairs, voided(p)), nil
			}
			s.progress(fmt.Sprintf("pair %d of at most %d", len(pairs), s.Rules.Planned), pairs, aa, look, begun)
		}
		if out := s.decide(pairs, aa, look); out.Verdict != verify.Inconclusive || last {
			return pairs, out, nil
		}
	}
}

// lacking names a requested, deciding metric that a side does not deliver; "" if
// there is none. Missing data must not pass.
func (s *Session) lacking(p verify.Pair) string {
	for _, m := range s.Rules.Metrics {
		if m.Asked && !m.Advisory && !(m.Of(p.A) > 0 && m.Of(p.B) > 0) {
			return m.Name
		}
	}
	return ""
}

// drop removes metrics that were not requested and that side A never delivers, each
// with a warning: a target without the probe counts no allocations.
func (s *Session) drop(aa, pairs []verify.Pair) (warnings []string) {
	s.Rules.Metrics = slices.DeleteFunc(slices.Clone(s.Rules.Metrics), func(m verify.Metric) bool {
		if m.Asked || slices.ContainsFunc(aa, func(p verify.Pair) bool { return m.Of(p.A) > 0 || m.Of(p.B) > 0 }) ||
			slices.ContainsFunc(pairs, func(p verify.Pair) bool { return m.Of(p.A) > 0 }) {
			return false
		}
		warnings = append(warnings, m.Name+" is not judged: the target does not deliver it")
		return true
	})
	return warnings
}

// sideError is a side that could not be measured.
type sideError struct{ error }

func (e *sideError) Unwrap() error { return e.error }

// unmeasured turns a side that could not be measured into an invalid result.
func (s *Session) unmeasured(ctx context.Context, aa, pairs []verify.Pair, err error) (verify.Result, error) {
	var side *sideError
	if ctx.Err() != nil || !errors.As(err, &side) {
		return verify.Result{}, err
	}
	return s.refused(aa, pairs, err.Error()), nil
}

// least returns the time that the shortest session takes after these pairs, if a pair takes each;
// pairs already in the log take no time.
func (s *Session) least(pairs []verify.Pair, each time.Duration) time.Duration {
	missing := max(0, s.sames(each)-s.Log.count(identical)) + max(0, s.Rules.Least()-max(len(pairs), s.Log.count(compared)))
	return time.Duration(missing) * each
}

func (s *Session) maxTime() time.Duration {
	if s.MaxTime > 0 {
		return s.MaxTime
	}
	return DefaultMaxTime
}

// affordable returns the number of pairs possible with those of the remaining time, or already in
// the log.
func (s *Session) affordable(pairs []verify.Pair, begun time.Time, each time.Duration) int {
	most := s.Pairs
	if most <= 0 {
		most = MostPairs
	}
	if each > 0 {
		most = min(most, len(pairs)+int((s.maxTime()-time.Since(begun))/each))
	}
	return max(most, s.Log.count(compared))
}

// decide decides on the pairs.
func (s *Session) decide(pairs, aa []verify.Pair, look int) verify.Result {
	s.looks = look
	return s.completed(verify.Decide(pairs, aa, look, s.Rules))
}

// completed adds to a decision how the pairs were measured.
func (s *Session) completed(out verify.Result) verify.Result {
	out.Turn, out.Apart = s.turn, s.apart
	return out
}

// progress reports a rough result of the pairs so far. It is not a look: it never
// ends the session.
func (s *Session) progress(phase string, pairs, aa []verify.Pair, look int, begun time.Time) {
	if s.OnProgress == nil {
		return
	}
	p := Progress{Phase: phase, Pairs: len(pairs), Most: s.Rules.Planned, Left: s.maxTime() - time.Since(begun)}
	if len(pairs) >= verify.LeastPairs {
		r := verify.Decide(pairs, aa, look, s.Rules.Roughly())
		p.Result = &r
	}
	s.describe(p)
}

func (s *Session) describe(p Progress) {
	if s.OnProgress != nil {
		s.OnProgress(p)
	}
}

// refused returns the result of a session that must not decide.
func (s *Session) refused(aa, pairs []verify.Pair, why string) verify.Result {
	out := verify.Decide(nil, nil, 1, s.Rules)
	out.Verdict, out.Why, out.Pairs, out.AA.Pairs = verify.Invalid, why, len(pairs), len(aa)
	out.Looks, out.Confidence, out.HeldUpBy = s.looks, 0, []string{}
	return s.completed(out)
}

// invalid returns why a block of the pairs does not count; "" if all do.
func invalid(pairs []verify.Pair) string {
	for _, p := range pairs {
		if why := cmp.Or(p.A.Void, p.B.Void); why != "" {
			return why
		}
	}
	return ""
}

// voided returns which side's block does not count, and why; "" when both do.
func voided(p verify.Pair) string {
	switch {
	case p.A.Void != "":
		return "side a: " + p.A.Void
	case p.B.Void != "":
		return "side b: " + p.B.Void
	}
	return ""
}
