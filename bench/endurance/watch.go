//go:build linux

package main

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/redline-go/redline/benchmark"
	"github.com/redline-go/redline/record"
)

// seen holds the readings of redline while it ran.
type seen struct {
	run     record.Run
	ended   error
	memory  []int64 // bytes resident, each second
	peak    int64   // of these, from the kernel (VmHWM)
	largest int64   // the bundle's largest size, bytes
	bundle  map[string]int64
}

// watch reads redline's memory and its bundle's size each second until it ends.
func watch(cmd *exec.Cmd, dir string) *seen {
	s := &seen{}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case s.ended = <-done:
			s.bundle = sizes(dir)
			s.largest = max(s.largest, total(s.bundle))
			return s
		case <-second.C:
			if now, peak, err := benchmark.Resident(cmd.Process.Pid); err == nil { // else it ended just now
				s.memory, s.peak = append(s.memory, now), max(s.peak, peak)
			}
			s.largest = max(s.largest, total(sizes(dir)))
		}
	}
}

// sizes returns the sizes of a bundle's files, by their first folder or name.
func sizes(dir string) map[string]int64 {
	all := map[string]int64{}
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // redline still writes, so files come and go
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		name, _ := filepath.Rel(dir, path)
		first, _, _ := strings.Cut(filepath.ToSlash(name), "/")
		all[first] += info.Size()
		return nil
	})
	return all
}

func total(sizes map[string]int64) (sum int64) {
	for _, size := range sizes {
		sum += size
	}
	return sum
}

// listSizes prints the sizes of a bundle's files, the largest first.
func listSizes(w io.Writer, bundle map[string]int64) {
	largestFirst := func(a, b string) int { return cmp.Or(cmp.Compare(bundle[b], bundle[a]), cmp.Compare(a, b)) }
	for _, name := range slices.SortedFunc(maps.Keys(bundle), largestFirst) {
		fmt.Fprintf(w, "%s\t%s\t\t\n", name, megabytes(bundle[name]))
	}
}

// describe prints the measurements next to their bounds, and fails when one exceeds its bound.
func (o options) describe(s *seen, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%v at %d requests/s, state %s\n\n", o.length, o.rate, s.run.State)
	fmt.Fprintf(w, "figure\tmeasured\tasked\t\n")
	var missed []string
	row := func(name string, is, most int64) {
		verdict := "ok"
		if is >= most {
			verdict, missed = "missed", append(missed, name)
		}
		fmt.Fprintf(w, "%s\t%s\tbelow %s\t%s\n", name, megabytes(is), megabytes(most), verdict)
	}
	memory, bundle := asked(o.length)
	row("memory of redline, highest", s.peak, memory)
	if n := len(s.memory); n > 0 {
		sorted := slices.Sorted(slices.Values(s.memory))
		fmt.Fprintf(w, "memory, median\t%s\t\t\n", megabytes(sorted[n/2]))
		fmt.Fprintf(w, "memory, after a tenth and at nine tenths\t%s, %s\t\t\n", megabytes(s.memory[n/10]), megabytes(s.memory[n*9/10]))
	}
	row("bundle", total(s.bundle), bundle)
	row("bundle while it grew, largest", s.largest, bundle)
	fmt.Fprintf(w, "\nof the bundle\tsize\t\t\n")
	listSizes(w, s.bundle)
	fmt.Fprintf(w, "\nsource\tok\tsamples\talignment p99\tCPU\twhat is missing\n")
	for _, h := range s.run.Sources {
		fmt.Fprintf(w, "%s\t%v\t%d\t%v\t%v\t%s\n", h.Name, h.OK, h.Samples, h.Align.P99, h.CPU.Round(time.Millisecond), h.Why)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if missed != nil {
		return fmt.Errorf("above the bounds: %s", strings.Join(missed, ", "))
	}
	return nil
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
