package measure

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/stat"
	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// promising is the gain under the search's process at which a confirmation is worth its
// time: half of what the session's rules could confirm at all.
func (t *Tuner) promising() float64 { return math.Log1p(t.Objective.Metric.Margin) / 4 }

// sure is the confidence at which a setting fails fewer requests: that of a session's intervals.
const sure = 0.95

// conclude decides what is recommended.
func (t *Tuner) conclude(ctx context.Context, r *tune.Result, best tune.Setting) error {
	excess, by := t.Objective.Excess(t.present...)
	broken := excess != nil && *excess > 0
	switch {
	case r.Tried == 0 && t.failedAll():
		r.Verdict, r.Why = tune.Keep, "keep what you have: no other setting served, "+t.whyNone(r)
		return nil
	case r.Tried == 0:
		r.Verdict, r.Why = tune.Invalid, "no trial measured a setting: "+t.whyNone(r)
		return nil
	case best == nil && broken:
		r.Verdict = tune.Unmet
		r.Why = fmt.Sprintf("no setting keeps %s: it is %s now, and the nearest was %s", t.guards(),
			t.figure(by, t.present), t.nearest())
		return nil
	case best == nil:
		r.Verdict, r.Why = tune.Keep, fmt.Sprintf("keep what you have: of %s tried none looks better",
			notation.Counted(int64(r.Tried), "setting", "settings"))
		return nil
	case !broken && math.Log1p(r.Expected.Gain) < t.promising():
		r.Verdict = tune.Keep
		r.Why = fmt.Sprintf("keep what you have: the best of %s promises %s (%s to %s), too little for a confirmation to detect",
			notation.Counted(int64(r.Tried), "setting",
				"settings"), notation.Change(r.Expected.Gain), notation.Change(r.Expected.Low),
			notation.Change(r.Expected.High))
		return nil
	}
	var guard *tune.Guard
	if broken {
		guard = &by
	}
	return t.confirm(ctx, r, best, guard)
}

// failedAll reports whether candidates failed, all for reasons of their own.
func (t *Tuner) failedAll() bool {
	trials := t.search.Trials()
	return len(trials) > 0 && !slices.ContainsFunc(trials, func(one tune.Trial) bool { return one.Spoilt })
}

// whyNone is why no setting could be measured.
func (t *Tuner) whyNone(r *tune.Result) string {
	for _, remark := range t.remarks {
		if remark != "" {
			return remark
		}
	}
	for _, m := range r.Measured {
		if m.Out != "" {
			return firstLine(m.Out)
		}
	}
	return "there was no time for any"
}

// nearest gives the trial that came nearest to keeping all guards, and the figure that it broke most.
func (t *Tuner) nearest() string {
	least, near := math.Inf(1), "not measured"
	for _, d := range t.done {
		if d.Pair == nil || d.Failed != "" {
			continue
		}
		if excess, by := t.Objective.Excess(d.Pair.B); excess != nil && *excess < least {
			least, near = *excess, t.figure(by, []verify.Block{d.Pair.B})+" with "+t.Space.String(d.Setting)
		}
	}
	return near
}

// guards are all limits, in words.
func (t *Tuner) guards() string {
	var all []string
	for _, g := range t.Objective.Guards {
		all = append(all, g.Text)
	}
	return strings.Join(all, " and ")
}

// figure is a guarded figure of some blocks; with several guards, with its limit.
func (t *Tuner) figure(g tune.Guard, blocks []verify.Block) string {
	text := g.Amount(g.Value(blocks))
	if len(t.Objective.Guards) > 1 {
		text += " (" + g.Text + ")"
	}
	return text
}

// confirm compares the setting with the present one in new launches, and recommends it only
// if they show a gain that such a session can detect.
func (t *Tuner) confirm(ctx context.Context, r *tune.Result, best tune.Setting, broken *tune.Guard) error {
	t.Header.Searched = len(t.done)
	if err := disk.WriteJSON(t.Dir, HeaderFile, t.Header); err != nil {
		return err
	}
	open := t.Present.Plan.Load.Open()
	// Not the search's seed: the order of launches is drawn independently too.
	rules := t.Objective.Rules(open, broken, t.Seed+0x9e3779b97f4a7c15)
	h := session.Header{A: t.Header.Service, B: t.Header.Service + " with " + t.Space.String(best),
		Plan: t.Header.Plan, Host: t.Header.Host,
		Seed: rules.Seed, Begun: t.begun}
	log, err := t.sessionLog(h)
	if err != nil {
		return err
	}
	defer log.Close()
	s := &session.Session{
		A: t.Present, B: t.side(best), Measurer: t.Measurer, Rules: rules, OneAtATime: t.OneAtATime || t.turnless(),
		MaxTime: max(t.maxTime()-time.Since(t.begun), t.reserve()), Log: log,
		OnProgress: func(p session.Progress) { t.step("confirming %s: %s", t.Space.String(best), p.Line()) },
	}
	result, err := s.Run(ctx)
	if err != nil {
		return err
	}
	result.Sides = [2]string{h.A, h.B}
	r.Confirmed = &result
	r.Verdict, r.Why = t.verdict(result, log, broken)
	return log.Finish(result)
}

// turnless reports whether the trials showed that the sides cannot be up at the
// same time.
func (t *Tuner) turnless() bool {
	turn, _ := t.trials.Turn()
	return turn == 0
}

func (t *Tuner) sessionLog(h session.Header) (*session.Log, error) {
	if _, err := os.Stat(filepath.Join(t.confirmDir(), session.File)); t.Resume && err == nil {
		log, _, err := session.Resume(t.confirmDir(), h)
		return log, err
	}
	return session.Create(t.confirmDir(), h)
}

// anew names what a confirmation consists of.
func (t *Tuner) anew() string {
	if t.Running {
		return "new turns"
	}
	return "new launches"
}

// verdict turns the confirming session's result into that of the tune.
func (t *Tuner) verdict(result verify.Result, log *session.Log, broken *tune.Guard) (tune.Verdict, string) {
	if result.Verdict == verify.Invalid {
		return tune.Invalid, "the confirmation is invalid: " + firstLine(result.Why)
	}
	_, both := log.Pairs()
	var b []verify.Block
	for _, p := range both {
		b = append(b, p.B)
	}
	if excess, by := t.Objective.Excess(b...); excess != nil && *excess > 0 {
		if broken != nil {
			return tune.Unmet, fmt.Sprintf("no setting is confirmed to keep %s: in %s it was %s", by.Text,
				t.anew(), by.Amount(by.Value(b)))
		}
		return tune.Keep, fmt.Sprintf("keep what you have: in %s %s was broken (%s)", t.anew(), by.Text,
			by.Amount(by.Value(b)))
	}
	if broken != nil && broken.Metric == tune.Errors {
		return t.fewer(both, *broken)
	}
	m := decided(result)
	ends := []float64{better(m, m.Low), better(m, m.High)}
	gain := fmt.Sprintf("%s (%s to %s)", notation.Change(better(m, m.Estimate)), notation.Change(slices.Min(ends)),
		notation.Change(slices.Max(ends)))
	switch {
	case result.Verdict == verify.Improvement && result.Early:
		why := fmt.Sprintf("%s of %s in %d new pairs of %s, which differ beyond doubt", gain, m.Name,
			result.Pairs, strings.TrimPrefix(t.anew(), "new "))
		if broken != nil {
			why = fmt.Sprintf("it keeps %s, which the present setting breaks: %s", broken.Text, why)
		}
		return tune.Recommend, why
	case result.Verdict == verify.Improvement && m.MDE > 0 && -math.Log1p(m.Estimate) >= math.Log1p(m.MDE):
		why := fmt.Sprintf("%s of %s in %d new pairs of %s; changes of %s are detectable", gain, m.Name,
			result.Pairs, strings.TrimPrefix(t.anew(), "new "), notation.Tenths(m.MDE))
		if broken != nil {
			why = fmt.Sprintf("it keeps %s, which the present setting breaks: %s", broken.Text, why)
		}
		return tune.Recommend, why
	case result.Verdict == verify.Improvement:
		return tune.Keep, fmt.Sprintf(
			"keep what you have: %s of %s in %s is less than the %s that such a session detects reliably",
			gain, m.Name, t.anew(),
			notation.Tenths(m.MDE),
		)
	case m.Estimate >= 0:
		return tune.Keep, fmt.Sprintf("keep what you have: %s show no gain, %s of %s", t.anew(), gain, m.Name)
	}
	why := fmt.Sprintf("keep what you have: %s did not confirm the gain, %s of %s", t.anew(), gain, m.Name)
	if m.MDE > 0 { // it is 0 after an early end
		why += fmt.Sprintf(" (changes of %s are detectable)", notation.Tenths(m.MDE))
	}
	return tune.Keep, why
}

// fewer is the verdict where the present setting fails more requests than a guard permits, and the new one kept it in all
// pairs together: it must fail fewer beyond doubt.
func (t *Tuner) fewer(pairs []verify.Pair, broken tune.Guard) (tune.Verdict, string) {
	var a, b []verify.Block
	var less []float64
	for _, p := range pairs {
		a, b, less = append(a, p.A), append(b, p.B), append(less, p.A.Errors-p.B.Errors)
	}
	words := fmt.Sprintf("%s of the requests failed, now %s, in %d new pairs of %s", broken.Amount(broken.Value(b)),
		broken.Amount(broken.Value(a)), len(pairs), strings.TrimPrefix(t.anew(), "new "))
	if _, low, _, _, ok := stat.StudentInterval(less, sure); !ok || low <= 0 {
		return tune.Unmet, fmt.Sprintf("no setting is confirmed to keep %s: %s", broken.Text, words)
	}
	return tune.Recommend, fmt.Sprintf("it keeps %s, which the present setting breaks: %s", broken.Text, words)
}

// decided is the metric that decides.
func decided(r verify.Result) verify.MetricResult {
	for _, m := range r.Metrics {
		if !m.Advisory {
			return m
		}
	}
	return verify.MetricResult{}
}

// better turns a change in which + is worse into the metric's own sign: more throughput is +,
// less CPU -.
func better(m verify.MetricResult, worse float64) float64 {
	if m.Higher {
		return 1/(1+worse) - 1
	}
	return worse
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
