package cli

import (
	"io"
	"os"

	"golang.org/x/term" // is there a person at the other end

	"github.com/redline-go/redline/notation/inert"
)

// Terminal reports whether w is a terminal that a person looks at.
func Terminal(w io.Writer) bool {
	f, ok := inert.File(w)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Colour reports whether to colour output to w: see https://no-color.org.
func Colour(w io.Writer) bool {
	_, no := os.LookupEnv("NO_COLOR")
	return Terminal(w) && !no && os.Getenv("TERM") != "dumb"
}

// pipeWidth is for output read in a log or a pager: wide enough for whole
// sentences of most findings.
const pipeWidth = 100

// Width returns the terminal's width, or pipeWidth if there is none.
func Width(w io.Writer) int {
	if f, ok := inert.File(w); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return pipeWidth
}

// Height returns the terminal's height in lines, or zero if there is none.
func Height(w io.Writer) int {
	if f, ok := inert.File(w); ok {
		if _, lines, err := term.GetSize(int(f.Fd())); err == nil {
			return lines
		}
	}
	return 0
}
