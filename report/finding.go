package report

import (
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record/findings"
)

// This file words one finding: its place, its weight, its evidence.

// Place says where a finding is in one line, or "" when it names no place.
func Place(w findings.Where) string {
	var parts []string
	if w.Function != "" {
		parts = append(parts, shortFunction(w.Function))
	}
	if at := fileAndLine(w); at != "" {
		parts = append(parts, at)
	}
	if w.Detail != "" {
		parts = append(parts, w.Detail)
	}
	if w.SQL != "" {
		parts = append(parts, w.SQL)
	}
	return cleanJoin(parts, "  ")
}

// fileAndLine returns "store/orders.go:112", or "" where no file is known.
func fileAndLine(w findings.Where) string {
	switch {
	case w.File == "":
		return ""
	case w.Line > 0:
		return fmt.Sprintf("%s:%d", shortFile(w.File), w.Line)
	}
	return shortFile(w.File)
}

// shortFunction drops the directories of a function's import path, and how the compiler calls the types that
// it was made for.
func shortFunction(name string) string {
	name = callstack.Literal(name)
	if i := strings.Index(name, "[go.shape."); i >= 0 {
		if end := strings.LastIndexByte(name, ']'); end > i {
			name = name[:i] + "[...]" + name[end+1:]
		}
	}
	if i := strings.LastIndexByte(name, '/'); i >= 0 && !strings.ContainsAny(name[:i], "([{ ") {
		if _, rest, ok := strings.Cut(name[i+1:], "."); ok {
			return callstack.Library(name) + "." + rest // not "v4."
		}
		return name[i+1:]
	}
	return name
}

// shortFile keeps a file's last two elements, which distinguish files of one service.
func shortFile(name string) string {
	dir, file := path.Split(name)
	return path.Join(path.Base(path.Clean(dir)), file)
}

// Weight words a finding's share and possible gain.
func Weight(f *findings.Finding) string {
	var parts []string
	if f.Share > 0 {
		parts = append(parts, notation.Percent(f.Share)+" of "+shareOf(f.ShareOf))
	}
	if gain := gain(f); gain != "" {
		parts = append(parts, gain)
	}
	if f.Confidence != "" {
		parts = append(parts, notation.Clean(string(f.Confidence))+" confidence")
	}
	return strings.Join(parts, ", ")
}

// gain words what removing a finding's cause is worth, or "" where that is not known.
func gain(f *findings.Finding) string {
	g := f.GainCeiling
	if g <= 1.005 || math.IsInf(g, 0) {
		return ""
	}
	text := ""
	claimed := laws.Gain{Factor: g, Low: f.GainLow, High: f.GainHigh, AtLeast: f.GainAtLeast}
	switch from, to := claimed.Claim(); {
	case from >= laws.Most:
		text = fmt.Sprintf("worth %dx or more", laws.Most)
	case math.IsInf(to, 0):
		text = "worth at least " + notation.Factor(from)
	case to > from:
		text = fmt.Sprintf("worth %s to %s", notation.Factor(from), notation.Factor(to))
	default:
		text = "worth about " + notation.Factor(from)
	}
	if f.ShareOf == "tail latency" {
		text = "tail at most " + notation.Factor(g) + " shorter"
		if g >= laws.Most {
			text = fmt.Sprintf("tail %dx shorter or more", laws.Most)
		}
	} else if f.GainOf == "latency" {
		text += " in latency"
	}
	if f.Then != "" {
		text += " (then limited by " + notation.Clean(f.Then) + ")"
	}
	return text
}

func shareOf(whole string) string {
	switch whole {
	case "":
		return "the whole"
	case "cpu":
		return "CPU"
	}
	return notation.Clean(whole)
}

func evidence(all []findings.Evidence) string {
	parts := make([]string, 0, len(all))
	for _, e := range all {
		text := notation.Clean(e.Text)
		if e.Source != "" {
			text += " (" + notation.Clean(e.Source) + ")"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}
