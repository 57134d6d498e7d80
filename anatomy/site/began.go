package site

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/record/code"
)

// starters are library functions that run what they are given on a goroutine of its own, by the
// beginnings of their closures' names. Goroutines that began there have nothing in common: what
// they were given says what they do.
var starters = []string{
	"sync.(*WaitGroup).Go.",
	"golang.org/x/sync/errgroup.(*Group).",
	"github.com/sourcegraph/conc.(*WaitGroup).", "github.com/sourcegraph/conc/panics.",
	"github.com/oklog/run.(*Group).Run.",
	"github.com/hashicorp/raft.(*raftState).goFunc.",
	"k8s.io/apimachinery/pkg/util/wait.",
}

// starts reports whether a function only runs what it is given on a goroutine of its own.
func starts(function string) bool {
	return slices.ContainsFunc(starters, func(s string) bool { return strings.HasPrefix(function, s) })
}

// Began returns the frame of a whole stack, innermost first, in which its goroutine began, without
// a function that only started it. ok is false if the stack shows only that function, as it does
// before and after what it was given runs.
func Began(frames []code.Frame) (f code.Frame, ok bool) {
	for i := len(frames) - 1; i >= 0; i-- {
		if !starts(frames[i].Function) {
			return frames[i], i == len(frames)-1 || !below(frames[i].Function)
		}
	}
	return code.Frame{}, false
}
