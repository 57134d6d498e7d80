package gobench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/redline-go/redline/service/scratch"
)

// sameRounds is how often side a is first measured against itself: the least that a
// signed-rank interval at 95 % needs (2^(1-6) = 3 %).
const sameRounds = 6

// ErrTime is returned, wrapped, if Options.MaxTime was over before anything was
// measured.
var ErrTime = errors.New("the time is up")

// session is the state of a running session.
type session struct {
	o       Options
	begun   time.Time
	sides   []*built
	list    []*benchmark
	missing []Missing
	files   *files
	rng     *rand.Rand
	rounds  int // that every benchmark has
	same    int
	planned int
}

// Run measures and decides. Its error is what kept it from measuring at all: wrong
// options, an unknown revision, tests that do not build. If ctx ends during
// measuring, the report covers the rounds until then and Interrupted is set.
//
// When it returns, the worktrees it made are gone and no launch is left.
func Run(ctx context.Context, o Options) (report *Report, err error) {
	if o, err = o.filled(); err != nil {
		return nil, err
	}
	if err := vacant(o.Out); err != nil {
		return nil, err
	}
	s := &session{o: o, begun: time.Now(), rng: rand.New(rand.NewPCG(o.Seed, 7))}
	folder, err := scratch.New("bench")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, folder.Remove()) }()
	// The deadline is a cause of its own, so that time that is up is distinguished
	// from the user's interrupt.
	timed, stop := context.WithDeadlineCause(ctx, s.begun.Add(o.MaxTime), ErrTime)
	defer stop()
	s.sides, err = build(timed, o, folder.Path)
	defer func() { err = errors.Join(err, remove(s.sides)) }()
	if err == nil {
		s.list, s.missing, err = discover(timed, o, s.sides)
	}
	if err != nil {
		if ctx.Err() == nil && timed.Err() != nil {
			return nil, fmt.Errorf("%w before anything could be measured (hint: a longer --max-time, or fewer packages)", ErrTime)
		}
		return nil, err
	}
	if len(s.list) == 0 && len(s.missing) == 0 {
		return nil, fmt.Errorf("no benchmark matches %q (hint: it is a regular expression, as of go test -bench)", o.Bench)
	}
	if s.files, err = create(o.Out, s.sides); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.files.close()) }()
	// Time that is up, or an interrupt, ends the measuring but not the session: the
	// rounds that were made are decided on.
	if err := s.measure(timed); err != nil && ctx.Err() == nil && !errors.Is(err, ErrTime) {
		return nil, err
	}
	report = s.report(ctx)
	return report, s.files.finish(report)
}

// measure makes the rounds that the time allows: side a with itself first, then the
// sides. The first round shows what one costs, and the plan follows from that.
func (s *session) measure(ctx context.Context) error {
	if len(s.list) == 0 {
		return nil
	}
	sameWanted := sameRounds
	if len(s.sides) == 1 {
		sameWanted = 0
	}
	s.planned = s.o.Rounds
	begun := time.Now()
	for s.same < sameWanted {
		if err := s.round(ctx, []*built{s.sides[0], s.sides[0]}, true); err != nil {
			return err
		}
		s.same++
		s.o.Progress(fmt.Sprintf("side a against itself, round %d of %d; %s left at most", s.same, sameWanted, s.left()))
		// By the first pair's time, not an estimate: -benchtime bounds only the
		// measured part of a launch.
		if s.same == 1 {
			s.planned, sameWanted = s.affordable(time.Since(begun), sameWanted)
		}
	}
	begun = time.Now()
	for s.rounds < s.planned {
		if err := s.round(ctx, s.sides, false); err != nil {
			return err
		}
		s.rounds++
		if s.rounds == 1 && len(s.sides) == 1 {
			s.planned, _ = s.affordable(time.Since(begun), 0)
		}
		s.o.Progress(s.line())
	}
	return nil
}

// profileShare is the part of the remaining time that profiles may take.
const profileShare = 0.25

// affordable plans rounds, given how long the first one took: those of side a with
// itself, a quarter of all at most, and the others.
func (s *session) affordable(each time.Duration, sameWanted int) (rounds, same int) {
	left := time.Until(s.begun.Add(s.o.MaxTime))
	if s.o.Profiles > 0 {
		left -= min(time.Duration(profileShare*float64(left)), s.profileTime())
	}
	all := 1
	if each > 0 {
		all = max(1, int(left/each)+1) // one is made
	}
	same = min(sameWanted, max(1, all/4))
	if sameWanted == 0 {
		same = 0
	}
	return max(1, min(s.o.Rounds, all-same)), same
}

func (s *session) left() time.Duration {
	return max(0, time.Until(s.begun.Add(s.o.MaxTime))).Round(time.Second)
}

// round launches every benchmark once on either side, in random order, so that
// neither a drift of the machine nor what ran before meets one side only. A round
// that is cut short does not count.
func (s *session) round(ctx context.Context, sides []*built, same bool) error {
	order := slices.Clone(s.list)
	s.rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	type measured struct {
		b    *benchmark
		both [2]launch
	}
	var done []measured
	for _, b := range order {
		m := measured{b: b}
		turn := []int{0, 1}[:len(sides)]
		// Which side goes first is drawn anew for each benchmark: the second launch
		// meets a warmer CPU.
		if len(sides) == 2 && s.rng.IntN(2) == 1 {
			turn = []int{1, 0}
		}
		failed := false
		for _, i := range turn {
			l, why, err := s.launch(ctx, sides[i], b)
			if err != nil {
				return err
			}
			if why != "" {
				s.drop(b, sides[i].name, why)
				failed = true
				break
			}
			m.both[i] = l
		}
		if !failed {
			done = append(done, m)
		}
	}
	// Only whole rounds are written, or pairs would shift against each other.
	for _, m := range done {
		for i := range sides {
			if same {
				m.b.same[i] = append(m.b.same[i], m.both[i])
				continue
			}
			m.b.series[i] = append(m.b.series[i], m.both[i])
			if err := s.files.add(i, m.both[i].result); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop removes a benchmark that failed although it ran before. Its rounds are lost,
// but the session continues.
func (s *session) drop(b *benchmark, side, why string) {
	s.list = slices.DeleteFunc(s.list, func(other *benchmark) bool { return other == b })
	s.missing = append(s.missing, Missing{Package: b.pkg, Name: b.title(), Side: side, Why: why, Failed: true})
}

// launch measures a benchmark once. why says that it failed; err is the context's.
func (s *session) launch(ctx context.Context, side *built, b *benchmark) (l launch, why string, err error) {
	args := []string{"-test.benchtime=" + s.o.BenchTime}
	if b.cpu > 0 {
		args = append(args, fmt.Sprintf("-test.cpu=%d", b.cpu))
	}
	out, err := side.binaries[b.pkg].launch(ctx, b.pattern(), args...)
	if err != nil {
		return l, "", err
	}
	if out.err != nil {
		return l, out.reason, nil
	}
	for _, r := range out.results {
		if n, ok := procs(string(r.Name), b.name); ok {
			return launch{result: s.files.config(r, side), procs: n, took: out.took}, "", s.files.learn(out.units)
		}
	}
	// Its pattern matched nothing, which happens to names that differ from launch
	// to launch.
	return l, "gave no result when launched alone: its name changes, or it prints into its own result line", nil
}
