package session

import (
	"fmt"
	"time"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/render"
)

// Progress is how far a session is.
type Progress struct {
	Phase       string // "comparing side a with itself", "pair 7 of at most 40"
	Plan        string // what is measured from now on and why; set once, in a report without other fields
	Pairs, Most int
	Result      *verify.Result // of the pairs so far, at the level of the last look; nil if there are too few
	Left        time.Duration
}

// Line formats the progress in one line.
func (p Progress) Line() string {
	line := p.Phase
	if p.Result != nil {
		line += render.Standing(*p.Result)
	}
	if p.Left > 0 {
		line += fmt.Sprintf("; at most %s left", notation.Time(p.Left))
	}
	return line
}
