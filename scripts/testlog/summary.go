package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

// readReasons reads the reasons that may skip a test in CI: a regular expression per
// line; empty lines and those that begin with # are for people.
func readReasons(path string) (allowed []*regexp.Regexp, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for number := 1; s.Scan(); number++ {
		line := strings.TrimSpace(s.Text())
		if line == "" || line[0] == '#' {
			continue
		}
		re, err := regexp.Compile(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		allowed = append(allowed, re)
	}
	return allowed, s.Err()
}

// How many the summary names: what to look at when CI takes too long.
const (
	slowest      = 10 // packages
	slowestTests = 25
)

// summarise prints the skips and the slowest packages. If strict, it fails for a skip
// whose reason nobody allowed.
func summarise(out io.Writer, results []result, allowed []*regexp.Regexp, strict bool) error {
	slices.SortStableFunc(results, func(a, b result) int { return cmp.Compare(b.Seconds, a.Seconds) })
	fmt.Fprintln(out, "\nslowest packages:")
	ran, skipped := 0, map[string][]string{} // tests by reason
	for i, r := range results {
		if i < slowest {
			fmt.Fprintf(out, "  %6.1f s  %s\n", r.Seconds, r.Package)
		}
		ran += r.Ran
		for _, s := range r.Skipped {
			skipped[s.Reason] = append(skipped[s.Reason], r.Package+"."+s.Test)
		}
	}
	longest(out, results)
	total, unlisted := 0, 0
	reasons := make([]string, 0, len(skipped))
	for reason := range skipped {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	if len(reasons) > 0 {
		fmt.Fprintln(out, "\nskipped:")
	}
	for _, reason := range reasons {
		tests := skipped[reason]
		total += len(tests)
		note := ""
		if !slices.ContainsFunc(allowed, func(re *regexp.Regexp) bool { return re.MatchString(reason) }) {
			unlisted += len(tests)
			note = " [not listed]"
		}
		fmt.Fprintf(out, "  %s%s\n    %s\n", reason, note, strings.Join(tests, "\n    "))
	}
	fmt.Fprintf(out, "\n%d tests ran, %d were skipped, %d of those for a reason that is not listed\n", ran, total, unlisted)
	if strict && unlisted > 0 {
		return fmt.Errorf("%d tests were skipped for a reason that scripts/skips.txt does not list", unlisted)
	}
	return nil
}

// longest prints the slowest tests of all packages, if any took long.
func longest(out io.Writer, results []result) {
	var tests []long
	for _, r := range results {
		for _, one := range r.Long {
			tests = append(tests, long{r.Package + "." + one.Test, one.Seconds})
		}
	}
	if len(tests) == 0 {
		return
	}
	slices.SortStableFunc(tests, func(a, b long) int { return cmp.Compare(b.Seconds, a.Seconds) })
	fmt.Fprintln(out, "\nslowest tests:")
	for _, one := range tests[:min(slowestTests, len(tests))] {
		fmt.Fprintf(out, "  %6.1f s  %s\n", one.Seconds, one.Test)
	}
}
