package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is a line of `go test -json` (go doc test2json).
type event struct {
	Action, Package, ImportPath, Test, Output string

	Elapsed float64 // seconds
}

// result is what the summary needs of one package.
type result struct {
	Package string
	Seconds float64
	Ran     int // tests that ended, skipped ones left out
	Skipped []skip
	Long    []long
}

// long is a test, without those within others, that took a second or more.
type long struct {
	Test    string
	Seconds float64
}

type skip struct{ Test, Reason string }

// test is one test's output until it is known whether anybody needs it.
type test struct {
	name    string
	lines   []string
	verdict string // "--- FAIL: ..." and the like, once printed
	action  string // pass, fail or skip; empty while it runs
}

// pkg is a package whose tests run.
type pkg struct {
	result

	tests []*test  // in the order of their start
	lines []string // output outside of tests
}

// follow prints the outcome of each package as it ends, and returns them. It fails if
// a package did, or did not end; whatever is no event is printed as it came.
func follow(in io.Reader, out io.Writer) (ended []result, err error) {
	running := map[string]*pkg{}
	var order []string
	failed := false
	r := bufio.NewReader(in)
	for {
		line, readErr := r.ReadString('\n')
		var e event
		switch {
		case line == "":
		case json.Unmarshal([]byte(line), &e) != nil || e.Action == "":
			fmt.Fprint(out, line)
		case e.Action == "build-output":
			fmt.Fprint(out, e.Output)
		case e.Action == "build-fail":
			failed = true
		case e.Package != "":
			p := running[e.Package]
			if p == nil {
				p = &pkg{result: result{Package: e.Package}}
				running[e.Package] = p
				order = append(order, e.Package)
			}
			if !p.take(e) {
				break
			}
			p.print(out, e.Action == "fail")
			failed = failed || e.Action == "fail"
			ended = append(ended, p.result)
			delete(running, e.Package)
		}
		if readErr == io.EOF {
			break
		}
		if readErr != nil {
			return ended, readErr
		}
	}
	for _, name := range order {
		if p := running[name]; p != nil {
			p.print(out, true)
			fmt.Fprintf(out, "FAIL\t%s [go test ended before it did]\n", name)
			failed = true
		}
	}
	if failed {
		err = errors.New("failed")
	}
	return ended, err
}

// take notes an event and reports whether it ends the package.
func (p *pkg) take(e event) bool {
	if e.Test == "" {
		switch e.Action {
		case "output":
			p.lines = append(p.lines, e.Output)
		case "pass", "fail", "skip":
			p.Seconds = e.Elapsed
			return true
		}
		return false
	}
	i := slices.IndexFunc(p.tests, func(t *test) bool { return t.name == e.Test && t.action == "" })
	if i < 0 {
		p.tests, i = append(p.tests, &test{name: e.Test}), len(p.tests)
	}
	t := p.tests[i]
	switch e.Action {
	case "output":
		t.output(e.Output)
	case "pass", "fail", "skip":
		t.action = e.Action
		if e.Elapsed >= 1 && !strings.Contains(t.name, "/") {
			p.Long = append(p.Long, long{t.name, e.Elapsed})
		}
		if t.action == "skip" {
			p.Skipped = append(p.Skipped, skip{t.name, t.reason()})
		} else {
			p.Ran++
		}
		if t.action != "fail" {
			t.lines = t.tail() // a test that passed needs its own words at most
		}
	}
	return false
}

// output keeps a line that a person would miss.
func (t *test) output(line string) {
	switch trimmed := strings.TrimLeft(line, " "); {
	case strings.HasPrefix(trimmed, "=== RUN "), strings.HasPrefix(trimmed, "=== PAUSE "),
		strings.HasPrefix(trimmed, "=== CONT "), strings.HasPrefix(trimmed, "=== NAME "):
	case strings.HasPrefix(trimmed, "--- ") && strings.Contains(trimmed, ": "+t.name+" ("):
		t.verdict = line
	default:
		t.lines = append(t.lines, line)
	}
}

// mostOutput bounds what is kept of a test that passed: it is printed only when its
// package fails without a failing test.
const mostOutput = 200

func (t *test) tail() []string { return t.lines[max(0, len(t.lines)-mostOutput):] }

// reason is what the test gave t.Skip, without the place.
func (t *test) reason() string {
	var parts []string
	for _, line := range t.lines {
		line = strings.TrimSpace(line)
		if file, rest, ok := strings.Cut(line, ".go:"); ok && !strings.Contains(file, " ") {
			_, line, _ = strings.Cut(rest, ": ")
		}
		if line != "" {
			parts = append(parts, line)
		}
	}
	if len(parts) == 0 {
		return "no reason given"
	}
	return strings.Join(parts, " ")
}

// print writes what go test writes of a package: the last line of one that passed; of
// a failing one what failed or never ended, and all there is if no test did.
func (p *pkg) print(out io.Writer, failed bool) {
	if !failed {
		for _, line := range p.lines {
			if strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "?   \t") || strings.Contains(line, "[no test files]") {
				fmt.Fprint(out, line)
			}
		}
		return
	}
	guilty := slices.ContainsFunc(p.tests, func(t *test) bool { return t.action == "fail" || t.action == "" })
	for _, t := range p.tests {
		if guilty && t.action != "fail" && t.action != "" {
			continue
		}
		if t.action == "" && t.verdict == "" {
			fmt.Fprintf(out, "--- unfinished: %s\n", t.name)
		}
		fmt.Fprint(out, t.verdict, strings.Join(t.lines, ""))
	}
	for _, line := range p.lines {
		fmt.Fprint(out, line)
	}
}
