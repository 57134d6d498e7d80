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
	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// promising is the gain under the search's process at which a confirmation is worth its
// time: half of what the session's rules could confirm at all.
func (t *Tuner) promising() float64 { return math.Log1p(t.Objective.Metric.Margin) / 4 }

// conclude decides what is recommended.
func (t *Tuner) conclude(ctx context.Context, r *tune.Result, best tune.Setting) error {
	r.Verdict = tune.Keep
	excess, by := t.Objective.Excess(t.present...)
	broken := excess != nil && *excess > 0
	switch {
	case r.Tried == 0 && t.failedAll():
		r.Why = "keep what you have: no other setting served, " + t.whyNone(r)
		return nil
	case r.Tried == 0:
		r.Verdict, r.Why = tune.Invalid, "no trial measured a setting: "+t.whyNone(r)
		return nil
	case best == nil && broken:
		r.Verdict = tune.Unmet
		r.Why = fmt.Sprintf("no setting keeps %s: it is %s now, and the nearest was %s", by.Text,
			by.Amount(by.Value(t.present)), t.nearest(by))
		return nil
	case best == nil:
		r.Why = fmt.Sprintf("keep what you have: of %s tried none looks better",
			notation.Counted(int64(r.Tried), "setting", "settings"))
		return nil
	case !broken && math.Log1p(r.Expected.Gain) < t.promising():
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

// nearest gives the lowest value of a guarded figure over all settings' trials.
func (t *Tuner) nearest(g tune.Guard) string {
	least, at := math.Inf(1), ""
	for _, trial := range t.search.Trials() {
		if trial.Excess != nil && trial.Failed == "" && *trial.Excess < least {
			least, at = *trial.Excess, t.Space.String(trial.Setting)
		}
	}
	if at == "" {
		return "not measured"
	}
	return fmt.Sprintf("%s with %s", g.Amount(g.Limit*math.Exp(least)), at)
}

// confirm compares the setting with the present one in new launches, and recommends it only
// if they show a gain that such a session can detect.
func (t *Tuner) confirm(ctx context.Context, r *tune.Result, best tune.Setting, broken *tune.Guard) error {
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
