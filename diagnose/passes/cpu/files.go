package cpu

import (
	"fmt"
	"slices"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/record/breakdown"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/findings"
)

// calls counts the system calls per request at the finding's function, and returns
// false if they are too few: the kernel then spends its time on large transfers,
// which no buffer saves.
func calls(p *diagnose.Pass, f *diagnose.Finding, hot usage.Hot) bool {
	if !p.Has(diagnose.NeedAnatomy) {
		f.Confidence = findings.Low
		return true
	}
	times, whole := 0.0, 0.0
	add := func(state breakdown.State, stack []code.Frame, n float64) {
		if state != breakdown.StateSyscall || !p.Stacks.Roles(stack).Has(callstack.SmallIO|callstack.FileMeta) {
			return
		}
		if i := p.Stacks.Innermost(stack); i >= 0 && stack[i].Function == hot.Place.Function && !copies(stack[:i]) {
			times += n
			if wholeFile(stack[:i]) {
				whole += n
			}
		}
	}
	for _, part := range p.Anatomy.All {
		add(part.State, part.Stack, part.Times)
		for _, chain := range part.Behind { // made by a goroutine that the request waits for
			last := chain.Links[len(chain.Links)-1]
			add(last.State, last.Stack, last.Times)
		}
	}
	if whole > 0.5*times {
		f.Title = fmt.Sprintf("Reading whole files takes %s of the service's CPU, %s", diagnose.Percent(f.Share), mostAt(hot, f.Share))
		f.Remedy = kept("the files", hot)
	}
	// distribution's catalogue walks a directory in each request, and was once
	// advised a buffer for stat. Metadata needs a cache instead.
	if use, err := p.Use(); err == nil {
		function, all := hot.Place.Function, use.In(hot.Place.Function, callstack.SmallIO)
		switch {
		case use.In(function, callstack.Messages) > 0.5*all: // each to a connection of its own, often
			f.Remedy = fmt.Sprintf("At %s, combine messages for the same client into one, or send fewer: each takes a system call.",
				diagnose.At(hot.Place))
		case use.Part(func(b usage.Booked) bool { return atOffset(b.Stack, function) }) > 0.5*all:
			f.Remedy = fmt.Sprintf("At %s, read larger blocks, keep those read in memory, or map the file: a bufio.Reader does not help "+
				"calls at an offset (ReadAt, WriteAt).", diagnose.At(hot.Place))
		case use.In(function, callstack.FileMeta) > 0.5*all:
			f.Title = fmt.Sprintf("Reading names and attributes from the file system takes %s of the service's "+
				"CPU, %s", diagnose.Percent(f.Share), mostAt(hot, f.Share))
			f.Remedy = kept("a listing, sizes, dates", hot)
		}
	}
	if times < leastCalls {
		seen := "the execution trace shows none of its reads or writes"
		if times >= 0.05 {
			seen = fmt.Sprintf("it makes %s read and write calls per request", diagnose.Times(times))
		}
		p.Reject(f.Cause, "%s spends its CPU in reads and writes, but %s", callstack.Short(hot.Place.Function), seen)
		return false
	}
	f.Evidence = append(f.Evidence, diagnose.Fact(diagnose.FromTrace, times, diagnose.Count,
		"%s per request there, on files and connections", diagnose.Counted(times, "system call", "system calls")))
	walk(p, f, hot)
	return true
}

// kept advises to read once what a function reads in each request.
func kept(what string, hot usage.Hot) string {
	return fmt.Sprintf("Cache the data that %s reads (%s) in memory, and reread it when it changes or expires, not in each request.",
		callstack.Short(hot.Place.Function), what)
}

// atOffset reports whether a function of the service reads or writes a file at an offset, on a stack.
func atOffset(stack []code.Frame, function string) bool {
	return slices.ContainsFunc(stack, func(f code.Frame) bool { return f.Function == function }) &&
		slices.ContainsFunc(stack, func(f code.Frame) bool {
			return f.Function == "os.(*File).ReadAt" || f.Function == "os.(*File).WriteAt"
		})
}

// wholeFile reports whether a system call belongs to os.ReadFile, whose reads are as large as the file.
func wholeFile(called []code.Frame) bool {
	return slices.ContainsFunc(called, func(f code.Frame) bool { return f.Function == "os.ReadFile" })
}

// inBulk are functions whose calls are not small, of which a bufio.Reader of 4 KB would make more: io.Copy brings a buffer of
// 32 KiB, WriteFile writes all at once, and the buffers of the others grow with what is read.
var inBulk = []string{"io.copyBuffer", "os.WriteFile", "io.ReadAll", "bytes.(*Buffer).ReadFrom"}

func copies(called []code.Frame) bool {
	return slices.ContainsFunc(called, func(f code.Frame) bool { return slices.Contains(inBulk, f.Function) })
}
