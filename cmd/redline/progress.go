package main

import (
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/x/ansi" // cuts a line at a terminal's width, not at bytes

	"github.com/redline-go/redline/notation/inert"
)

// progress shows how a session goes: on a terminal in one line that is written
// over, elsewhere in a line each.
type progress struct {
	w       io.Writer
	redraws bool
	open    bool // whether the terminal's line has no end yet
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, redraws: terminal(w) && os.Getenv("TERM") != "dumb"}
}

// step prints a line that the next step replaces.
func (p *progress) step(text string) {
	text = inert.Text(text)
	if !p.redraws {
		fmt.Fprintln(p.w, text)
		return
	}
	fmt.Fprint(p.w, "\r\x1b[2K"+ansi.Truncate(text, width(p.w)-1, "..."))
	p.open = true
}

// note prints a line that stays.
func (p *progress) note(format string, args ...any) {
	p.close()
	inert.Fprintf(p.w, format+"\n", args...)
}

// close ends the line of the last step. It may be called twice.
func (p *progress) close() {
	if p.open {
		fmt.Fprintln(p.w)
		p.open = false
	}
}
