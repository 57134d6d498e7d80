package compare

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/verify/render"
)

//go:embed flame.html
var flamePage string

var flameTemplate = template.Must(template.New("flame").Parse(flamePage))

// flameBox is a frame on the page. Places are shares of the whole, 0 to 1, in the
// run that sets the width.
type flameBox struct {
	Name, Title string
	Style       template.CSS // numbers only
	Class       string
}

// FlameHTML writes a differential flame graph as one page that needs no network:
// a frame is as wide as its CPU per request in the second run (or the first, by a
// button), red where it costs more than in the first, blue where less, and grey
// where sampling alone explains the difference.
func FlameHTML(w io.Writer, f *Flame) error {
	page := struct {
		Runs   [2]string
		Costs  [2]string
		Change string
		Rows   int
		Frames []flameBox
		Caveat string
	}{Runs: f.Runs, Caveat: Caveat, Change: f.reported(f.Root)}
	for side, cost := range f.Root.Cost {
		page.Costs[side] = render.Amount(cost, "ns")
	}
	var draw func(frame *Frame, row int, left [2]float64)
	draw = func(frame *Frame, row int, left [2]float64) {
		page.Rows = max(page.Rows, row+1)
		page.Frames = append(page.Frames, f.box(frame, row, left))
		for _, callee := range frame.Callees {
			draw(callee, row+1, left)
			for side := range left {
				left[side] += callee.Cost[side] / f.Root.Cost[side]
			}
		}
	}
	draw(f.Root, 0, [2]float64{})
	return flameTemplate.Execute(w, page)
}

func (f *Flame) box(frame *Frame, row int, left [2]float64) flameBox {
	d := f.difference(frame)
	class := "same"
	switch {
	case d > 0:
		class = "more"
	case d < 0:
		class = "less"
	}
	share := func(side int) float64 { return frame.Cost[side] / f.Root.Cost[side] }
	return flameBox{
		Name: frame.Function, Class: class,
		Title: fmt.Sprintf("%s\n%s", frame.Function, f.reported(frame)),
		Style: template.CSS(fmt.Sprintf("--y:%d;--la:%.5f;--wa:%.5f;--lb:%.5f;--wb:%.5f;--d:%.2f",
			row, left[0], share(0), left[1], share(1), math.Abs(d))),
	}
}

// reported describes both costs of a frame.
func (f *Flame) reported(frame *Frame) string {
	a, b := frame.Cost[0], frame.Cost[1]
	text := fmt.Sprintf("CPU per request: a %s (%s), b %s (%s)", render.Amount(a, "ns"),
		notation.Tenths(a/f.Root.Cost[0]), render.Amount(b, "ns"), notation.Tenths(b/f.Root.Cost[1]))
	switch {
	case frame != f.Root && f.difference(frame) == 0:
		return text + "; within the noise of sampling"
	case a == 0:
		return text + "; only in b"
	case b == 0:
		return text + "; only in a"
	}
	return text + "; " + notation.Change(b/a-1)
}

// WriteFlame compares the profiles of two runs and writes the page.
func WriteFlame(w io.Writer, a, b *record.Record) error {
	f, err := Profiles(a, b)
	if err != nil {
		return err
	}
	return FlameHTML(w, f)
}
