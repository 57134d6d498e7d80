package tune

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/redline-go/redline/redact"
)

// Kind is how a knob is set.
type Kind string

// Kinds of knob.
const (
	Runtime Kind = "runtime" // a variable that the Go runtime reads
	Env     Kind = "env"     // a variable of the environment
	Flag    Kind = "flag"    // an argument of the command line
	PGO     Kind = "pgo"     // whether the target is built with a profile of itself
	Live    Kind = "live"    // set by HTTP while the service runs
)

// Bounds on what can be requested: beyond them a search finds nothing in a day.
const (
	mostKnobs  = 8
	mostLevels = 32
	// sweptLevels is the number of values that represent a range.
	sweptLevels = 7
	// logRatio is the ratio of a range's ends at which its values have equal ratios instead of
	// equal differences.
	logRatio = 8
)

// Knob is one setting of the service with the values that it may take.
type Knob struct {
	Name string // as given: "GOGC", "env:DB_POOL", "flag:-workers", "pgo"
	Kind Kind
	Key  string // of the variable, the flag with its dashes, or the request; empty for pgo
	// Request sets a live knob; nil for all others.
	Request *Request
	// Levels are the values to try, ascending if they are numbers.
	Levels []Level
	// Numeric says that values are ordered; Log that ratios of them count.
	Numeric, Log bool

	low, high float64 // the ends of the scale, as they are measured along it
}

// Level is one value of a knob.
type Level struct {
	Text string // as it is set; empty for Unset
	// Unset leaves the knob out of the environment and the command line.
	Unset bool
	// At is a number's position on the knob's scale: 0 is the lowest requested value, 1 the highest.
	At float64
}

func (l Level) String() string {
	if l.Unset {
		return "not set"
	}
	return l.Text
}

var (
	variable  = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	flagName  = regexp.MustCompile(`^--?[A-Za-z][A-Za-z0-9_.-]*$`)
	number    = regexp.MustCompile(`^(-?[0-9]+(?:\.[0-9]+)?)(B|KiB|MiB|GiB|TiB)?$`)
	sizes     = map[string]float64{"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
	unitsDown = []string{"TiB", "GiB", "MiB", "KiB", "B"}
)

// ParseKnob reads NAME=VALUES: the name GOGC, GOMEMLIMIT, GOMAXPROCS, env:NAME,
// flag:-name, http:[METHOD ]URL[ BODY] or pgo; the values a range (50..400, 64MiB..1GiB) or a list (a,b,c).
// pgo needs none. A range whose ends have a ratio of 8 or more is divided by equal ratios.
func ParseKnob(text string) (Knob, error) {
	name, values, given := strings.Cut(text, "=")
	if at := strings.LastIndex(text, "="); strings.HasPrefix(text, "http:") && at >= 0 {
		name, values = text[:at], text[at+1:] // a request may hold the sign itself
	}
	k := Knob{Name: name, Key: name}
	switch {
	case name == "pgo":
		k.Kind, k.Key = PGO, ""
		if given && values != "off,on" && values != "on,off" {
			return k, fmt.Errorf("knob pgo takes no values: it is tried off and on")
		}
		k.Levels = []Level{{Text: "off"}, {Text: "on"}}
		return k, nil
	case name == "GOGC" || name == "GOMEMLIMIT" || name == "GOMAXPROCS":
		k.Kind = Runtime
	case strings.HasPrefix(name, "env:"):
		k.Kind, k.Key = Env, name[len("env:"):]
		if !variable.MatchString(k.Key) {
			return k, fmt.Errorf("knob %q: %q is not the name of a variable", name, k.Key)
		}
		if redact.New().Secret(k.Key) {
			return k, fmt.Errorf("knob %q is named like a secret, and a tune prints and keeps the values of its knobs", name)
		}
	case strings.HasPrefix(name, "flag:"):
		k.Kind, k.Key = Flag, name[len("flag:"):]
		if !flagName.MatchString(k.Key) {
			return k, fmt.Errorf("knob %q: %q is not a flag (hint: flag:-workers=1..16)", name, k.Key)
		}
	case strings.HasPrefix(name, "http:"):
		k.Kind, k.Key = Live, name[len("http:"):]
		r, err := parseRequest(k.Key)
		if err != nil {
			return k, fmt.Errorf("knob %q: %w", redact.Text(name), err)
		}
		k.Request = &r
	default:
		return k, unknownKnob(name)
	}
	if values == "" {
		return k, fmt.Errorf("knob %q has no values (hint: %s=LOW..HIGH or %s=A,B,C)", name, name, name)
	}
	if err := k.parse(values); err != nil {
		return k, fmt.Errorf("knob %q: %w", name, err)
	}
	return k, k.check()
}

func unknownKnob(name string) error {
	hint := "GOGC, GOMEMLIMIT, GOMAXPROCS, pgo, env:NAME, flag:-name and http:/path?name={} are knobs"
	switch upper := strings.ToUpper(name); {
	case slices.Contains([]string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS"}, upper):
		hint = upper
	case strings.HasPrefix(name, "-"):
		hint = "flag:" + name
	case variable.MatchString(name) && name == upper:
		hint = "env:" + name
	}
	return fmt.Errorf("unknown knob %q (hint: %s)", name, hint)
}

// parse reads a range or a list.
func (k *Knob) parse(values string) error {
	if low, high, ok := strings.Cut(values, ".."); ok {
		return k.parseRange(low, high)
	}
	words := strings.Split(values, ",")
	if len(words) < 2 {
		return fmt.Errorf("%q is one value: there is nothing to choose from", values)
	}
	if len(words) > mostLevels {
		return fmt.Errorf("%d values are too many: at most %d are tried", len(words), mostLevels)
	}
	k.Numeric = true
	var numbers []float64
	for _, w := range words {
		if w == "" {
			return fmt.Errorf("%q has an empty value", values)
		}
		k.Levels = append(k.Levels, Level{Text: w})
		v, _, err := amount(w)
		k.Numeric = k.Numeric && err == nil
		numbers = append(numbers, v)
	}
	if err := k.repeated(); err != nil || !k.Numeric {
		return err
	}
	if slices.Min(numbers) == slices.Max(numbers) {
		return fmt.Errorf("%q is one value: there is nothing to choose from", values)
	}
	k.scale(slices.Min(numbers), slices.Max(numbers))
	for i := range k.Levels {
		k.Levels[i].At = k.at(numbers[i])
	}
	slices.SortStableFunc(k.Levels, func(a, b Level) int { return cmp.Compare(a.At, b.At) })
	return k.repeated()
}

func (k *Knob) repeated() error {
	for i, l := range k.Levels {
		if slices.ContainsFunc(k.Levels[:i], func(other Level) bool {
			return other.Text == l.Text || k.high > k.low &&
				other.At == l.At
		}) {
			return fmt.Errorf("%q is listed twice", l.Text)
		}
	}
	return nil
}

// check refuses values that the Go runtime does not accept for its variables: it
// silently ignores some of them and ends the process at others.
func (k *Knob) check() error {
	if k.Kind != Runtime {
		return nil
	}
	for _, l := range k.Levels {
		n, err := strconv.Atoi(l.Text)
		v, unit, sizeErr := amount(l.Text)
		switch {
		case k.Key == "GOGC" && l.Text != "off" && (err != nil || n < 1):
			return fmt.Errorf("knob GOGC: %q is neither a percentage of 1 or more nor off", l.Text)
		case k.Key == "GOMAXPROCS" && (err != nil || n < 1 || n > 1024):
			return fmt.Errorf("knob GOMAXPROCS: %q is not a number from 1 to 1024", l.Text)
		case k.Key == "GOMEMLIMIT" && l.Text != "off" && (sizeErr != nil || v < 1<<20 || unit == ""):
			return fmt.Errorf("knob GOMEMLIMIT: %q is neither a size of 1MiB or more nor off", l.Text)
		}
	}
	return nil
}

// WithPresent returns the knob with the service's present value among its levels, and
// that level's number. set is false if neither the scenario nor a default known to
// redline gives one.
func (k Knob) WithPresent(text string, set bool) (Knob, int) {
	k.Levels = slices.Clone(k.Levels)
	if !set {
		k.Levels = append(k.Levels, Level{Unset: true})
		return k, len(k.Levels) - 1
	}
	if i := slices.IndexFunc(k.Levels, func(l Level) bool { return !l.Unset && l.Text == text }); i >= 0 {
		return k, i
	}
	v, _, err := amount(text)
	if !k.Numeric || err != nil {
		// A word among numbers, such as off, has a special meaning and no place on the
		// scale.
		k.Levels = append(k.Levels, Level{Text: text, At: math.NaN()})
		return k, len(k.Levels) - 1
	}
	l := Level{Text: text, At: k.at(v)}
	i := slices.IndexFunc(k.Levels, func(other Level) bool { return other.At >= l.At })
	if i < 0 {
		i = len(k.Levels)
	}
	if i < len(k.Levels) && k.Levels[i].At == l.At {
		return k, i // 1GiB is 1024MiB
	}
	k.Levels = slices.Insert(k.Levels, i, l)
	return k, i
}

// Amount returns a value as a number, sizes in bytes; false for a word.
func Amount(text string) (float64, bool) {
	v, _, err := amount(text)
	return v, err == nil
}
