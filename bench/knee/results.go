//go:build linux

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/record"
)

const schema = "redline.knee-bench/1"

// results are all that was measured.
type results struct {
	Schema      string       `json:"schema"`
	Date        time.Time    `json:"date"`
	Host        record.Host  `json:"host"`
	Go          string       `json:"go"`
	Redline     string       `json:"redline"` // revision of the last repetition
	MaxTime     string       `json:"max_time"`
	Repetitions []repetition `json:"repetitions"`
}

// repetition is one answer beside the truth. Rates are 1/s.
type repetition struct {
	Service string         `json:"service"`
	Truth   float64        `json:"truth"`
	State   knee.State     `json:"state"`
	Why     string         `json:"why,omitempty"`
	Knee    *knee.Interval `json:"knee,omitempty"`
	Inside  bool           `json:"inside"`
	Seconds float64        `json:"seconds"` // until the assessment of the last step begins
	Steps   int            `json:"steps"`
	Finding string         `json:"finding,omitempty"` // cause
	Title   string         `json:"title,omitempty"`
	Soaked  string         `json:"soaked,omitempty"` // outcome of the soak
}

func repetitionOf(s service, a *knee.Answer) repetition {
	r := repetition{Service: s.name, Truth: s.truth, State: a.State, Why: a.Why, Knee: a.Knee}
	for _, one := range a.Steps {
		r.Seconds = max(r.Seconds, one.Begun.Seconds())
		if one.Phase == knee.Searched {
			r.Steps++
		}
	}
	r.Inside = a.Knee != nil && a.Knee.Low <= s.truth && s.truth <= a.Knee.High
	if a.Finding != nil {
		r.Finding, r.Title = a.Finding.Cause, a.Finding.Title
	}
	if a.Soak != nil {
		r.Soaked = string(a.Soak.Outcome)
	}
	return r
}

func (r repetition) String() string {
	if r.Knee == nil {
		return fmt.Sprintf("%s: %s", r.State, r.Why)
	}
	return fmt.Sprintf("%s: %.1f (%.1f to %.1f), truth %.0f, inside: %v, %.1f %% wide, %.0f s; %s", r.State, r.Knee.Rate, r.Knee.Low,
		r.Knee.High, r.Truth, r.Inside, 100*r.Knee.Width(), r.Seconds, r.Title)
}

func openResults(o options) (*results, error) {
	r := &results{Schema: schema, Repetitions: []repetition{}}
	if o.add {
		data, err := os.ReadFile(o.out)
		if err == nil {
			err = json.Unmarshal(data, r)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if r.Schema != schema {
			return nil, fmt.Errorf("%s has schema %q", o.out, r.Schema)
		}
	}
	r.Date, r.Host, r.Go = time.Now().UTC().Truncate(time.Second), record.HostInfo(), runtime.Version()
	r.Redline, r.MaxTime = benchmark.Revision("."), o.maxTime.String()
	return r, nil
}

func (r *results) write(file string) error {
	figures, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return benchmark.Write(file, figures, r.markdown(filepath.Base(file)))
}

// markdown is the table of all repetitions.
func (r *results) markdown(file string) string {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"# How often the knee is right\n\n"+
			"Check how far you can trust a knee that redline reports. The bench searches services of known capacity many times each.\n\n"+
			"Made by `bench/knee` from [%s](%s), %s, %s, redline %s, at most %s each.\n\n",
		file,
		file,
		r.Date.Format(time.DateOnly),
		r.Go,
		r.Redline,
		r.MaxTime,
	)
	b.WriteString(
		"| service | capacity | truth inside | estimate | widest interval | longest | named limit |\n" +
			"|---|---|---|---|---|---|---|\n",
	)
	for _, s := range services {
		if line := r.row(s); line != "" {
			b.WriteString(line)
		}
	}
	b.WriteString("\n")
	return b.String()
}

func (r *results) row(s service) string {
	n, inside, widest, longest, low, high := 0, 0, 0.0, 0.0, s.truth*10, 0.0
	named := map[string]int{}
	for _, one := range r.Repetitions {
		if one.Service != s.name {
			continue
		}
		n++
		longest = max(longest, one.Seconds)
		named[one.Finding]++
		if one.Knee == nil {
			continue
		}
		if one.Inside {
			inside++
		}
		widest, low, high = max(widest, one.Knee.Width()), min(low, one.Knee.Rate), max(high, one.Knee.Rate)
	}
	if n == 0 {
		return ""
	}
	var causes []string
	for _, cause := range slices.SortedFunc(maps.Keys(named), func(a, b string) int {
		return cmp.Or(cmp.Compare(named[b], named[a]), cmp.Compare(a, b))
	}) {
		causes = append(causes, fmt.Sprintf("%s %d", cmp.Or(cause, "nothing"), named[cause]))
	}
	return fmt.Sprintf("| %s | %.0f/s | %d of %d | %.1f to %.1f/s | %.1f %% | %.0f s | %s |\n", s.name, s.truth, inside, n, low, high,
		100*widest, longest, strings.Join(causes, ", "))
}
