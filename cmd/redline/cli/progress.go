package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/x/ansi" // cuts a line at a terminal's width, not at bytes

	"github.com/redline-go/redline/notation/inert"
)

// Progress shows how a session goes: on a terminal in one line that each step
// overwrites, elsewhere in one line per step.
type Progress struct {
	w       io.Writer
	redraws bool
	open    bool // whether the terminal's line has no end yet
}

// NewProgress returns a Progress that prints to w.
func NewProgress(w io.Writer) *Progress {
	return &Progress{w: w, redraws: Terminal(w) && os.Getenv("TERM") != "dumb"}
}

// Redraws reports whether each step overwrites the one before.
func (p *Progress) Redraws() bool { return p.redraws }

// Step prints a line that the next step replaces.
func (p *Progress) Step(text string) {
	text = inert.Text(text)
	if !p.redraws {
		fmt.Fprintln(p.w, text)
		return
	}
	fmt.Fprint(p.w, "\r\x1b[2K"+ansi.Truncate(text, Width(p.w)-1, "..."))
	p.open = true
}

// Note prints a line that stays.
func (p *Progress) Note(format string, args ...any) {
	p.Close()
	inert.Fprintf(p.w, format+"\n", args...)
}

// Close ends the line of the last step. It may be called twice.
func (p *Progress) Close() {
	if p.open {
		fmt.Fprintln(p.w)
		p.open = false
	}
}
