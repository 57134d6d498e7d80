//go:build linux

package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// Bounds.
const (
	askedShare = 0.999
	askedError = time.Millisecond
)

// verdict is the outcome of the trials.
type verdict struct {
	events, across, untraced int
	trials                   int // assessed: whole within a window, and within a trace
	all                      share
	rows                     []row
}

// share is how many of how many; clear are those farther from an edge than the
// permitted error.
type share struct{ same, trials, sameClear, clear int }

func (s share) of() string { return portion(s.same, s.trials) }

func portion(part, whole int) string {
	if whole == 0 {
		return "none"
	}
	return fmt.Sprintf("%.2f %% (%d of %d)", 100*float64(part)/float64(whole), part, whole)
}

func (s *share) add(same, clear bool) {
	s.trials++
	if same {
		s.same++
	}
	if clear {
		s.clear++
		if same {
			s.sameClear++
		}
	}
}

type row struct {
	view   string
	share  share
	unseen int
	off    []time.Duration // sorted
	stated time.Duration   // the largest error that a run stated
	partly string          // the data that a run reported missing
}

func (r *row) quantile(q float64) time.Duration {
	if len(r.off) == 0 {
		return 0
	}
	return r.off[min(len(r.off)-1, int(q*float64(len(r.off))))]
}

func decide(all []trial) verdict {
	v := verdict{events: len(all)}
	for _, name := range views {
		v.rows = append(v.rows, row{view: name})
	}
	for _, t := range all {
		if t.Across {
			v.across++
		} else if !t.Traced {
			v.untraced++
		}
		if t.Across || !t.Traced {
			continue
		}
		v.trials++
		clear, together := t.Edge >= askedError, true
		for i := range v.rows {
			r := &v.rows[i]
			seen := t.Views[r.view]
			r.share.add(seen.Seen && seen.Same, clear)
			together = together && seen.Seen && seen.Same
			r.stated, r.partly = max(r.stated, seen.Stated), cmp.Or(r.partly, seen.Partly)
			if !seen.Seen {
				r.unseen++
				continue
			}
			r.off = append(r.off, seen.Off)
		}
		v.all.add(together, clear)
	}
	for i := range v.rows {
		slices.Sort(v.rows[i].off)
	}
	return v
}

// missed lists the figures beyond their bounds.
func (v *verdict) missed() (all []string) {
	if float64(v.all.sameClear) < askedShare*float64(v.all.clear) {
		all = append(all, "the same window")
	}
	for _, r := range v.rows {
		if max(r.quantile(0.99), r.stated) >= askedError {
			all = append(all, "the dates of "+r.view)
		}
	}
	return all
}

// describe prints the table, and fails when a figure misses its bound.
func (v verdict) describe(out io.Writer) error {
	if v.trials == 0 {
		return errors.New("no trial lies within one window and within a trace")
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%d events: %d trials, %d across an edge, %d between two traces\n\n", v.events, v.trials, v.across, v.untraced)
	fmt.Fprintf(w, "view\tin the event's window\t1 ms from an edge and more\tnot seen\toff by p50\tp99\tmax\tstated p99\n")
	for _, r := range v.rows {
		stated := "-"
		if r.stated > 0 {
			stated = r.stated.String()
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%v\t%v\t%v\t%s\n", r.view, r.share.of(), portion(r.share.sameClear, r.share.clear), r.unseen,
			r.quantile(0.5), r.quantile(0.99), r.quantile(1), stated)
	}
	fmt.Fprintf(w, "all at once\t%s\t%s\n", v.all.of(), portion(v.all.sameClear, v.all.clear))
	fmt.Fprintf(w, "asked\t\t%.1f %%\t\t\tbelow %v\t\tbelow %[2]v\n", 100*askedShare, askedError)
	for _, r := range v.rows {
		if r.partly != "" {
			fmt.Fprintf(w, "%s: %s\n", r.view, r.partly)
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if missed := v.missed(); missed != nil {
		return fmt.Errorf("not as asked: %s", strings.Join(missed, ", "))
	}
	return nil
}

// traced counts the trials that a trace holds.
func traced(all []trial) (n int) {
	for _, t := range all {
		if t.Traced && !t.Across {
			n++
		}
	}
	return n
}

// earlier returns the trials that a file holds; none when there is no file.
func earlier(path string) (all []trial, err error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for d := json.NewDecoder(bufio.NewReader(f)); ; {
		var t trial
		if err := d.Decode(&t); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		all = append(all, t)
	}
}

// keep adds trials to a file; without one they are not kept.
func keep(path string, trials []trial) (err error) {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	e := json.NewEncoder(f)
	for _, t := range trials {
		err = errors.Join(err, e.Encode(t))
	}
	return errors.Join(err, f.Close())
}
