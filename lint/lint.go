// Package lint joins the Go compiler's remarks with the lines that cost a service
// most: values that it put on the heap, functions that it could not inline,
// bounds checks that it could not remove. Only lines measured to be hot are reported,
// ranked by their measured cost; a linter that reports every escape reports
// thousands, and nearly all of them cost nothing.
//
// It joins a recorded run with the sources that the service was built from. The
// run's binary and the sources should be of the same revision; lines that moved get
// no remarks, or another line's.
package lint

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"runtime"
	"slices"
	"strconv"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/service/compiler"
	"github.com/redline-go/redline/service/syntax"
)

// Explain returns the hot lines of a record with the compiler's remarks, and the lines that call others
// in a loop, pass on the statements that they are given, search, or compute what a logger is given. b is where and how the target
// was built, and patterns are the packages that may be asked about ("./..."). Lines are empty
// if the record has no profiles; the error is then nil. It reports packages that could not be
// listed or compiled.
func Explain(ctx context.Context, rec *record.Record, b compiler.Build, patterns ...string) (code.Compiler, error) {
	out := code.Compiler{GoVersion: runtime.Version(), Lines: diagnose.HotLines(rec)}
	calls := diagnose.CallLines(rec)
	busy, touched := diagnose.BusyLines(rec)
	if len(out.Lines)+len(calls)+len(busy) == 0 {
		return out, nil
	}
	listed, err := compiler.List(ctx, b, patterns...)
	if err != nil {
		return out, err
	}
	files := sources{listed, rec.Run.Target.MainPkg}
	out.Loops, out.Relays = files.those(calls, syntax.InLoop), files.relays(diagnose.Askers(rec))
	out.Loops = union(out.Loops, files.those(busy, syntax.Iterates))
	out.Generated = files.those(calls, syntax.Generated)
	out.Searches, out.Filters = files.those(busy, syntax.Searches), files.those(busy, syntax.Filters)
	out.Logged = files.logged(touched)
	out.Collector = files.calls("debug", "SetGCPercent")
	if len(out.Lines) == 0 {
		return out, nil
	}
	out.GoVersion = compiler.Version(ctx, b.Dir)
	asked, err := compiler.Ask(ctx, b, hotPackages(out.Lines, listed, rec.Run.Target.MainPkg)...)
	if err != nil {
		return out, err
	}
	for i, f := range asked {
		if name, ok := files.fileOf(f.Package, f.Path); ok {
			asked[i].Path = name // a build with -trimpath names it otherwise
		}
	}
	attach(out.Lines, asked)
	return out, nil
}

// union returns the lines of either list once, in their order.
func union(a, b []code.Frame) []code.Frame {
	both := slices.Clone(a)
	for _, f := range b {
		if !slices.Contains(a, f) {
			both = append(both, f)
		}
	}
	return both
}

// hotPackages returns the listed packages that hold hot lines, sorted. Frames
// call every main package "main"; the record names the one that was built, and if
// it does not, every listed one counts.
func hotPackages(lines []code.HotLine, listed []compiler.Package, mainPkg string) []string {
	hot := map[string]bool{}
	for _, l := range lines {
		pkg, _ := callstack.Split(l.Function)
		hot[pkg] = true
	}
	var packages []string
	for _, p := range listed {
		if hot[p.ImportPath] || hot["main"] && mainOf(p, "main", mainPkg) {
			packages = append(packages, p.ImportPath)
		}
	}
	slices.Sort(packages)
	return packages
}

// attach puts remarks at their lines. A frame's file may be a trimmed path, so
// package and file name decide.
func attach(lines []code.HotLine, files []compiler.File) {
	type key struct{ pkg, file string }
	reported := map[key]compiler.File{}
	for _, f := range files {
		reported[key{f.Package, path.Base(f.Path)}] = f
	}
	inline := map[string]bool{} // functions whose inlining was reported, at their hottest line
	for i := range lines {
		l := &lines[i]
		pkg, _ := callstack.Split(l.Function)
		f, ok := reported[key{pkg, path.Base(l.File)}]
		if !ok {
			continue
		}
		for _, r := range f.Remarks {
			if r.Line == l.Line && r.Kind != code.NotInlined && matters(*l, r.Remark) && !repeated(l.Remarks, r.Remark) {
				l.Remarks = append(l.Remarks, r.Remark)
			}
		}
		if l.Self >= leastSelf && !inline[l.Function] {
			if r, ok := notInlined(f, l.Line); ok {
				l.Remarks, inline[l.Function] = append(l.Remarks, r), true
			}
		}
	}
	slices.SortStableFunc(lines, func(a, b code.HotLine) int {
		return cmp.Or(-cmp.Compare(min(1, len(a.Remarks)), min(1, len(b.Remarks))), cmp.Compare(b.Cost(), a.Cost()))
	})
}

// leastSelf is the share of CPU that a line itself must spend for a bounds check
// or a missed inlining there to matter: either costs a few per cent of the
// surrounding instructions.
const leastSelf = 0.02

// matters reports whether a line's cost is of the kind that a remark concerns.
func matters(l code.HotLine, r code.Remark) bool {
	if r.Kind == code.Escapes {
		return l.Bytes > 0 || l.Objects > 0
	}
	return l.Self >= leastSelf
}

func repeated(remarks []code.Remark, r code.Remark) bool {
	return slices.ContainsFunc(remarks, func(old code.Remark) bool { return old.Kind == r.Kind && old.Text == r.Text })
}

// tooLarge is the inlining cost above which it is useless to report that a function
// is not inlined: the compiler's budget is 80 and a function of up to twice that can
// be split or simplified; a larger one is not meant to be inlined.
const tooLarge = 160

var inlineCost = regexp.MustCompile(`cost (\d+) exceeds budget`)

// notInlined returns why the function around a line is not inlined, if it could
// be made inlinable.
func notInlined(f compiler.File, line int) (code.Remark, bool) {
	decl, err := syntax.Enclosing(f.Path, line)
	if err != nil {
		return code.Remark{}, false
	}
	for _, r := range f.Remarks {
		if r.Kind != code.NotInlined || r.Line != decl.Line || r.Column != decl.Column {
			continue
		}
		if m := inlineCost.FindStringSubmatch(r.Text); m != nil {
			if cost, err := strconv.Atoi(m[1]); err != nil || cost > tooLarge {
				return code.Remark{}, false
			}
		}
		return code.Remark{Kind: code.NotInlined, Text: fmt.Sprintf("%s is not inlined: %s", decl.Name, r.Text)}, true
	}
	return code.Remark{}, false
}
