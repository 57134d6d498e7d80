//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/diagnosetest/corpus"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/findings"
)

const (
	// remedied is the variable with which a service of the corpus starts healed.
	// One that does not read it has no twin.
	remedied = "FIXED"
	// within is the factor by which a claim may be off, and wantWithin the share of the
	// cases that must be within it.
	within, wantWithin = 1.5, 0.80
	// wantTwins is how many cases with a twin it takes for the share to mean something.
	wantTwins = 40
)

// calibrated is the gain that was claimed for a case, and the gain of its remedy.
type calibrated struct {
	Case, Cause, Of, Then string
	Pairs                 int
	Claimed, Measured     float64 // medians over the pairs
	AtLeast               bool    `json:",omitempty"` // the report printed "at least", or "or more"
	Why                   string  `json:",omitempty"` // it could not be compared
}

// off is the factor by which a claim is wrong, 1 or more; 0 if that is unknown. A claim
// that is printed as a floor is wrong only if less was gained.
func (c calibrated) off() float64 {
	if !(c.Claimed > 0) || !(c.Measured > 0) {
		return 0
	}
	if c.AtLeast {
		return math.Max(1, c.Claimed/c.Measured)
	}
	return math.Max(c.Claimed/c.Measured, c.Measured/c.Claimed)
}

// twin reports whether a case can be started healed.
func (b *bench) twin(c corpus.Case) bool {
	files, _ := filepath.Glob(filepath.Join(b.root, string(c.Kind), c.Name, "*.go"))
	return slices.ContainsFunc(files, func(file string) bool {
		data, err := os.ReadFile(file)
		return err == nil && bytes.Contains(data, []byte(fmt.Sprintf("Getenv(%q)", remedied)))
	})
}

// calibrate runs each case that has a twin sick and healed in turn, -runs pairs of
// it, and compares the claimed gain with that of the remedy.
func (b *bench) calibrate(ctx context.Context, cases []corpus.Case) error {
	if _, err := os.Stat(b.redline); err != nil {
		return fmt.Errorf("%w (hint: go build -o bin/redline ./cmd/redline)", err)
	}
	twins := slices.DeleteFunc(slices.Clone(cases), func(c corpus.Case) bool { return c.Kind == corpus.Healthy || !b.twin(c) })
	fmt.Fprintf(b.out, "%d of %d cases have a remedied twin\n", len(twins), len(cases))
	if len(twins) == 0 {
		return errors.New("no case that was chosen has a remedied twin")
	}
	if b.add {
		twins = slices.DeleteFunc(twins, func(c corpus.Case) bool { return b.compared(c) })
	} else {
		b.results.Calibration = nil
	}
	dir := b.keep
	if dir == "" {
		temporary, err := os.MkdirTemp("", "calibrate-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		dir = temporary
	}
	n, err := b.outfit(ctx, twins)
	if err != nil {
		return err
	}
	defer n.close()
	for _, c := range twins {
		one := b.against(ctx, n, c, dir)
		if ctx.Err() != nil {
			return nil // cut short, so the case has no result
		}
		fmt.Fprintln(b.out, one.line())
		b.results.Calibration = append(b.results.Calibration, one)
	}
	return nil
}

// compared reports whether the results hold a claim of the case beside its measurement.
// A case that could not be compared is measured again, so its row is removed.
func (b *bench) compared(c corpus.Case) bool {
	name := string(c.Kind) + "/" + c.Name
	i := slices.IndexFunc(b.results.Calibration, func(old calibrated) bool { return old.Case == name })
	if i >= 0 && b.results.Calibration[i].Why != "" {
		b.results.Calibration = slices.Delete(b.results.Calibration, i, i+1)
		return false
	}
	return i >= 0
}

// against measures one case. Which side goes first alternates, so that a machine
// that gets slower or faster meanwhile favours neither.
func (b *bench) against(ctx context.Context, n *needs, c corpus.Case, dir string) calibrated {
	one := calibrated{Case: string(c.Kind) + "/" + c.Name}
	if err := b.build(ctx, c); err != nil {
		one.Why = err.Error()
		return one
	}
	var claimed, measured []float64
	floors := 0
	for pair := range b.runs {
		var sides [2]side
		for turn := range 2 {
			i := (pair + turn) % 2
			var err error
			if sides[i], err = b.sideOf(ctx, n, c, filepath.Join(dir, fmt.Sprintf("%s.%d.%d", c.Name, pair, i)), i == 1); err != nil {
				one.Why = err.Error()
				return one
			}
		}
		f, ok := sides[0].expected(c)
		if !ok {
			one.Cause, one.Why = c.Findings[0].Cause, "the cause was not found"
			return one
		}
		one.Cause, one.Of, one.Then = f.Cause, f.GainOf, f.Then
		gain := sides[1].rate / sides[0].rate
		if f.GainOf == laws.Latency {
			gain = sides[0].latency / sides[1].latency
		}
		claim := f.GainCeiling
		printed := laws.Gain{Factor: claim, Low: f.GainLow, High: f.GainHigh, AtLeast: f.GainAtLeast}
		if from, to := printed.Claim(); math.IsInf(to, 1) {
			claim = from
			floors++
		}
		claimed, measured = append(claimed, claim), append(measured, gain)
	}
	one.AtLeast = floors == len(claimed) // else one of them claims an upper bound as well
	one.Pairs, one.Claimed, one.Measured = len(claimed), median(claimed), median(measured)
	return one
}

// side is one run of a case.
type side struct {
	rate, latency float64 // mean latency in ns
	found         findings.Findings
}

// expected returns the first finding that answers the case: its weightiest cause, or
// an equivalent one.
func (s side) expected(c corpus.Case) (findings.Finding, bool) {
	for _, f := range s.found.Findings {
		if len(c.Findings) > 0 && c.Findings[0].Is(f.Cause) {
			return f, true
		}
	}
	return findings.Finding{}, false
}

func (b *bench) sideOf(ctx context.Context, n *needs, c corpus.Case, dir string, healed bool) (s side, err error) {
	env, release, err := n.provide(ctx, c)
	if err != nil {
		return s, err
	}
	defer release()
	env = slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, remedied+"=") })
	if healed {
		env = append(env, remedied+"=1")
	}
	if err := os.RemoveAll(dir); err != nil { // of an earlier session that kept it
		return s, err
	}
	// A run that is invalid because the healed service outruns the generator counts:
	// the measured gain is a lower bound.
	if _, err := b.redlineRun(ctx, c, dir, env); err != nil {
		return s, err
	}
	data, err := os.ReadFile(filepath.Join(dir, record.SummaryFile))
	if err != nil {
		return s, err
	}
	var summary struct {
		Load struct {
			Rate    float64 `json:"rate"`
			Latency struct {
				Mean float64 `json:"mean"`
			} `json:"latency_ns"`
		} `json:"load"`
	}
	if err := json.Unmarshal(data, &summary); err != nil {
		return s, err
	}
	s.rate, s.latency = summary.Load.Rate, summary.Load.Latency.Mean
	if !(s.rate > 0) || !(s.latency > 0) {
		return s, fmt.Errorf("%s: no request was answered", dir)
	}
	s.found, err = storedFindings(dir)
	return s, err
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	if n := len(sorted); n%2 == 0 {
		return (sorted[n/2-1] + sorted[n/2]) / 2
	}
	return sorted[len(sorted)/2]
}

// line is a row of the table.
func (c calibrated) line() string {
	if c.Why != "" {
		return fmt.Sprintf("| %s | %s | | | | | %s |", c.Case, c.Cause, strings.Join(strings.Fields(c.Why), " "))
	}
	floor := ""
	if c.AtLeast {
		floor = "at least "
	}
	return fmt.Sprintf("| %s | %s | %s%.2fx | %.2fx | %.2f | %s | %s |",
		c.Case, c.Cause, floor, c.Claimed, c.Measured, c.off(), c.Of, c.Then)
}

// calibration is the section of the page; "" if nothing was calibrated.
func calibration(list []calibrated) string {
	if len(list) == 0 {
		return ""
	}
	near, compared, floors := 0, 0, 0
	var rows strings.Builder
	for _, c := range list {
		if off := c.off(); off > 0 {
			compared++
			if off <= within {
				near++
				if c.AtLeast {
					floors++
				}
			}
		}
		fmt.Fprintln(&rows, c.line())
	}
	mark := "met"
	if compared < wantTwins || float64(near) < wantWithin*float64(compared) {
		mark = "MISSED"
	}
	return fmt.Sprintf(`
## Claimed gains against measured gains

Each service that can start with its remedy ran sick and with its remedy, in turn. The claim is the gain that the
finding in the sick run states, a bound; the measurement is the ratio of the rates, or of mean latencies in an open loop
below saturation. If the remedied service outruns the generator, the measured gain is a lower bound.
A claim printed as "at least" is off only if the gain was smaller.
%d of %d claims are within a factor of %.1f, %d of them printed as "at least" (mark: %.0f %% of at least %d cases): %s.

| case | cause | claimed | measured | off by | of | then |
|---|---|---|---|---|---|---|
%s`, near, compared, within, floors, 100*wantWithin, wantTwins, mark, rows.String())
}

// recalibrate replaces the calibration in the files of results and leaves their runs
// as they are.
func (b *bench) recalibrate(ctx context.Context, cases []corpus.Case) error {
	if err := b.keepOld(); err != nil {
		return err
	}
	err := b.calibrate(ctx, cases)
	if len(b.results.Runs) == 0 || err != nil {
		fmt.Fprint(b.out, calibration(b.results.Calibration))
		return errors.Join(err, b.writeFigures())
	}
	return b.describe()
}

// keepOld keeps what the file of results holds. A missing file holds nothing.
func (b *bench) keepOld() error {
	old, ok, err := b.stored()
	if ok {
		b.results = old
	}
	return err
}
