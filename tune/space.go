package tune

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Setting is a value for each knob, as the numbers of their levels.
type Setting []int

// Space holds all settings that a search may try.
type Space struct {
	Knobs []Knob
	// Present is the setting that the service has now.
	Present Setting
}

// NewSpace checks that the knobs form a space. present gives a knob's present value,
// and false if it is unknown.
func NewSpace(knobs []Knob, present func(Knob) (string, bool)) (Space, error) {
	var s Space
	if len(knobs) == 0 {
		return s, errors.New("no knob to turn (hint: --knob GOGC=50..400)")
	}
	if len(knobs) > mostKnobs {
		return s, fmt.Errorf("%d knobs are too many: a search handles at most %d", len(knobs), mostKnobs)
	}
	for i, k := range knobs {
		if slices.ContainsFunc(knobs[:i], func(other Knob) bool {
			return (other.Kind == Flag) == (k.Kind == Flag) && other.Key == k.Key
		}) {
			return s, fmt.Errorf("knob %q is given twice", k.Name)
		}
		with, at := k.WithPresent(present(k))
		s.Knobs, s.Present = append(s.Knobs, with), append(s.Present, at)
	}
	return s, nil
}

// Size returns how many settings there are.
func (s Space) Size() int {
	n := 1
	for _, k := range s.Knobs {
		n *= len(k.Levels)
	}
	return n
}

// key identifies a setting.
func (x Setting) key() string { return fmt.Sprint([]int(x)) }

// with returns the setting with one knob at another level.
func (x Setting) with(knob, level int) Setting {
	y := slices.Clone(x)
	y[knob] = level
	return y
}

// Value is a knob's value in a setting.
type Value struct {
	Knob  string `json:"knob"`
	Value string `json:"value"` // "not set" for one that is left out
	// Changed is set if the present setting has another value.
	Changed bool `json:"changed"`
}

// Values returns a setting in words.
func (s Space) Values(x Setting) []Value {
	out := make([]Value, len(x))
	for i, level := range x {
		out[i] = Value{s.Knobs[i].Name, s.Knobs[i].Levels[level].String(), level != s.Present[i]}
	}
	return out
}

// String describes a setting by its changes.
func (s Space) String(x Setting) string {
	var changed []string
	for i, level := range x {
		if level != s.Present[i] {
			changed = append(changed, s.Knobs[i].Name+"="+s.Knobs[i].Levels[level].String())
		}
	}
	if len(changed) == 0 {
		return "as it is"
	}
	return strings.Join(changed, " ")
}

// changed lists the knobs that a setting changes.
func (s Space) changed(x Setting) (knobs []int) {
	for i := range x {
		if x[i] != s.Present[i] {
			knobs = append(knobs, i)
		}
	}
	return knobs
}

// unlike is the distance of two levels without a common scale.
const unlike = 0.7

// ordered reports whether a level lies on its knob's scale.
func (k *Knob) ordered(level int) bool {
	l := k.Levels[level]
	return k.Numeric && !l.Unset && !math.IsNaN(l.At)
}

// distance is the distance of two levels of a knob, in lengths of its scale.
func (k *Knob) distance(a, b int) float64 {
	if a == b {
		return 0
	}
	if !k.ordered(a) || !k.ordered(b) {
		return unlike
	}
	return math.Abs(k.Levels[a].At - k.Levels[b].At)
}

// each calls f for every setting of the space, in order.
func (s Space) each(f func(Setting)) {
	x := make(Setting, len(s.Knobs))
	for {
		f(slices.Clone(x))
		i := len(x) - 1
		for ; i >= 0; i-- {
			if x[i]++; x[i] < len(s.Knobs[i].Levels) {
				break
			}
			x[i] = 0
		}
		if i < 0 {
			return
		}
	}
}
