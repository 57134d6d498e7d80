package measure

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify/session"
)

// Present returns a knob's value in a plan or else in redline's own environment, which
// the target inherits; false if it is set nowhere and has no default.
func Present(plan *scenario.Plan) func(tune.Knob) (string, bool) {
	return func(k tune.Knob) (string, bool) {
		switch k.Kind {
		case tune.PGO:
			return "off", true
		case tune.Live:
			return "", false // as the target starts
		case tune.Flag:
			words := arguments(plan)
			if i := find(*words, k.Key); i >= 0 {
				_, value, has := strings.Cut((*words)[i], "=")
				if !has && i+1 < len(*words) {
					value = (*words)[i+1]
				}
				return value, true
			}
			return "", false
		}
		if v, ok := plan.Target.Env[k.Key]; ok && v != "" {
			return v, true
		}
		if v := os.Getenv(k.Key); v != "" {
			return v, true
		}
		switch k.Key {
		case "GOGC":
			return "100", true
		case "GOMEMLIMIT":
			return "off", true
		case "GOMAXPROCS":
			// The target has the same limits as redline, so both runtimes choose the
			// same number.
			return fmt.Sprint(runtime.GOMAXPROCS(0)), true
		}
		return "", false
	}
}

// arguments returns the words of a plan's target that may be flags.
func arguments(plan *scenario.Plan) *[]string {
	if plan.Target.Build == "" && len(plan.Target.Args) == 0 {
		return &plan.Target.Exec
	}
	return &plan.Target.Args
}

// find returns the index of a flag among words, with its value in the same or the next
// word, and with one dash or two; -1 if it is not there.
func find(words []string, flag string) int {
	name := strings.TrimLeft(flag, "-")
	return slices.IndexFunc(words, func(w string) bool {
		before, _, _ := strings.Cut(w, "=")
		return strings.HasPrefix(before, "-") && strings.TrimLeft(before, "-") == name
	})
}

// side returns the side of a setting. Unchanged knobs are not touched, so the present
// setting is the unmodified service.
func (t *Tuner) side(x tune.Setting) session.Side {
	plan := *t.Present.Plan
	plan.Target.Env = maps.Clone(plan.Target.Env)
	if plan.Target.Env == nil {
		plan.Target.Env = map[string]string{}
	}
	plan.Target.Args, plan.Target.Exec = slices.Clone(plan.Target.Args), slices.Clone(plan.Target.Exec)
	out := session.Side{Name: "b", Plan: &plan, Binary: t.Present.Binary}
	for i, level := range x {
		if level == t.Space.Present[i] {
			continue
		}
		k, l := t.Space.Knobs[i], t.Space.Knobs[i].Levels[level]
		switch k.Kind {
		case tune.PGO:
			out.Binary = t.Profiled
		case tune.Live: // below, once the target is ready
		case tune.Flag:
			words := arguments(&plan)
			*words = set(*words, k.Key, l)
		default:
			plan.Target.Env[k.Key] = l.Text // empty means not set: the runtime treats both the same
		}
	}
	out.Prepare = t.prepared(x)
	return out
}

// set sets a flag's value, in place if the flag is already there.
func set(words []string, flag string, l tune.Level) []string {
	i := find(words, flag)
	switch {
	case i < 0 && l.Unset:
		return words
	case i < 0:
		return append(words, flag+"="+l.Text)
	case strings.Contains(words[i], "="):
		name, _, _ := strings.Cut(words[i], "=")
		words[i] = name + "=" + l.Text
	case i+1 < len(words):
		words[i+1] = l.Text
	}
	return words
}
