package history

import (
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/service/revision"
)

// SessionsSchema names the JSON that `redline history trials --json` prints.
const SessionsSchema = "redline.history-trials/1"

// SessionsJSON writes sessions with their trials for programs.
func SessionsJSON(w io.Writer, all []Session) error {
	out := struct {
		Schema   string    `json:"schema"`
		Sessions []Session `json:"sessions"`
	}{SessionsSchema, append([]Session{}, all...)}
	return inert.JSON(w, out)
}

// SessionsText writes sessions with their trials for people.
func SessionsText(w io.Writer, all []Session) error {
	var b strings.Builder
	for i, s := range all {
		if i > 0 {
			b.WriteByte('\n')
		}
		inert.Fprintf(&b, "%s of %s, %s%s\n  %s\n", string(s.Kind), s.Scenario, s.Time.UTC().Format("2006-01-02 15:04 UTC"),
			ofCommit(s.Commit), s.Answer)
		if s.Dir != "" {
			inert.Fprintf(&b, "  kept in %s\n", s.Dir)
		}
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		inert.Fprintf(t, "  #\tfor\tsetting\toutcome\t%s\tnote\n", metrics(s.Trials))
		for n, one := range s.Trials {
			inert.Fprintf(t, "  %d\t%s\t%s\t%s\t%s\t%s\n", n+1, one.Phase, one.Setting, one.Outcome, one.amount(), one.Note)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func ofCommit(c revision.Commit) string {
	if c.Hash == "" {
		return ""
	}
	return ", commit " + name(Point{Commit: c})
}

// metrics names what the trials' values are of: one thing in a session.
func metrics(trials []Trial) string {
	for _, t := range trials {
		if t.Metric != "" {
			return t.Metric
		}
	}
	return "value"
}

// Relative is the unit of a value that is a relative change: 0.1 is 10 % more.
const Relative = "relative"

func (t Trial) amount() string {
	switch {
	case math.IsNaN(t.Value):
		return "-"
	case t.Unit == Relative:
		return notation.Change(t.Value)
	}
	return notation.Quantity(t.Value, t.Unit)
}
