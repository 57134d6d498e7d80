package session

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/baseline"
)

// blocksAlone is the default number of launches if one side is measured alone.
const blocksAlone = 20

// Against compares side B with a stored baseline, or measures it alone to create
// one.
//
// The two are measured one after the other, which pairs exist to avoid. To
// compensate, blocks are treated as independent samples (Mann and Whitney 1947;
// Hodges and Lehmann 1963, with Moses' interval); intervals of times and rates are
// widened by as much as the machine may have drifted between the sessions,
// according to a yardstick next to every block; and nothing passes that could not
// have been detected as a failure. Other drift (a database that has grown, a
// neighbour on the disk) cannot be distinguished from a change of the service, and
// the rate of false regressions is unknown. Every result states both.
type Against struct {
	Baseline *baseline.Baseline // nil measures alone and decides nothing
	B        Side
	Measurer Measurer // with the yardstick next to each block: a Yardstick
	Rules    verify.Rules
	// MaxTime bounds the measurement; zero means DefaultMaxTime. Blocks is the
	// number of blocks; zero means 20.
	MaxTime time.Duration
	Blocks  int
	Log     *Log           // keeps the blocks as they are measured; nil keeps none
	OnBlock func(Progress) // called after every block; may be nil
}

// Run measures and decides. The result of a side measured alone is inconclusive,
// and says why. Errors are those of Session.Run.
func (s *Against) Run(ctx context.Context) (verify.Result, error) {
	begun, most := time.Now(), s.most()
	var blocks []verify.Block
	for len(blocks) < most {
		b, err := s.block(ctx, len(blocks))
		if err != nil {
			return verify.Result{}, err
		}
		if blocks = append(blocks, b); b.Void != "" {
			return s.refused(blocks, "side b: "+b.Void), nil
		}
		spent := time.Since(begun)
		if s.OnBlock != nil {
			s.OnBlock(Progress{Phase: fmt.Sprintf("launch %d of at most %d", len(blocks), most),
				Pairs: len(blocks), Most: most, Left: s.maxTime() - spent})
		}
		if spent+spent/time.Duration(len(blocks)) > s.maxTime() {
			break
		}
	}
	if len(blocks) < verify.LeastBlocks {
		return s.refused(blocks, fmt.Sprintf("there was time for %s; at least %d are needed for a "+
			"verdict (hint: --max-time, --pairs)", notation.Counted(int64(len(blocks)), "launch", "launches"), verify.LeastBlocks)), nil
	}
	if s.Baseline == nil {
		out := verify.Single(blocks, s.Rules)
		out.Why = "measured alone, so that it can be compared with"
		return out, nil
	}
	return verify.DecideAgainst(s.Baseline.Blocks, blocks, s.Rules), nil
}

func (s *Against) most() int { return max(verify.LeastBlocks, cmp.Or(s.Blocks, blocksAlone)) }

func (s *Against) maxTime() time.Duration { return cmp.Or(max(0, s.MaxTime), DefaultMaxTime) }

// block measures one block, or takes it from an interrupted session's log.
func (s *Against) block(ctx context.Context, n int) (verify.Block, error) {
	if p, ok := s.Log.pair(alone, n); ok {
		return p.B, nil
	}
	b, err := s.Measurer.Measure(ctx, s.B)
	if err != nil {
		return verify.Block{}, err
	}
	return b, s.Log.add(alone, n, verify.Pair{B: b})
}

// refused is the result of measurements that must not be compared.
func (s *Against) refused(blocks []verify.Block, why string) verify.Result {
	out := verify.Single(nil, s.Rules)
	out.Verdict, out.Why, out.Stored.Launches = verify.Invalid, why, len(blocks)
	return out
}
