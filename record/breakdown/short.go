package breakdown

import (
	"encoding/json"

	"github.com/redline-go/redline/record/code"
)

// Bounds of a short summary: parts of each band, frames of a stack, chains of a wait, and
// bytes in all, as JSON with indentation. summary.json stays below 200 KB with them;
// anatomy.json holds all.
const (
	shortBand   = 40
	shortFrames = 8
	shortChains = 2
	shortLinks  = 3
	shortBytes  = 140_000
)

// Short returns the summary in the form of summary.json: the largest parts of each band,
// with the innermost frames of their stacks and most of what they waited for.
// The parts with the least time are left out. The receiver is unchanged.
func (s Summary) Short() Summary {
	whole := s
	for frames := shortFrames; frames > 0; frames-- {
		s.Median, s.Tail = shortParts(whole.Median, frames), shortParts(whole.Tail, frames)
		text, err := json.MarshalIndent(s, "", "  ")
		if err != nil || len(text) <= shortBytes { // the writer reports the error
			break
		}
	}
	return s
}

func shortParts(parts []Part, frames int) []Part {
	out := append([]Part{}, parts[:min(len(parts), shortBand)]...)
	for i := range out {
		p := &out[i]
		p.Stack, p.Waker = shortStack(p.Stack, frames), shortStack(p.Waker, frames)
		behind := p.Behind[:min(len(p.Behind), shortChains)]
		p.Behind = nil
		for _, c := range behind {
			c.Links = append([]Link{}, c.Links[:min(len(c.Links), shortLinks)]...)
			for k := range c.Links {
				c.Links[k].Stack = nil // its site names the place
			}
			p.Behind = append(p.Behind, c)
		}
	}
	return out
}

func shortStack(stack []code.Frame, frames int) []code.Frame { return stack[:min(len(stack), frames)] }
