package measure

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/redline-go/redline/cmd/redline/cli"
	"github.com/redline-go/redline/history"
	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/knee/render"
	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/verify/baseline"
)

// keepKnee adds the steps of a knee to the history, and the capacity by commit where one was found.
func keepKnee(ctx context.Context, store *history.Store, dir string, plan *scenario.Plan, a *knee.Answer, note func(string, ...any)) {
	if store == nil {
		return
	}
	hash, err := baseline.ScenarioHash(a.Header.Plan, 0)
	if path, absErr := filepath.Abs(dir); absErr == nil {
		dir = path
	}
	s := history.Session{
		Kind: history.Knee, Time: a.Header.Begun, Commit: cli.TargetCommit(ctx, plan.Target, ""),
		Scenario: baseline.ScenarioName(a.Header.Plan), Hash: hash,
		Machine: record.HostInfo(), Redline: a.Header.Redline, Dir: dir, Answer: render.Headline(a),
	}
	for _, step := range a.Steps {
		s.Trials = append(s.Trials, kneeTrial(step))
	}
	if err == nil && a.State == knee.Found && a.Knee != nil {
		// Another limit on p99 is another capacity: a series of its own.
		sum := sha256.Sum256([]byte(strings.Join(a.Header.Objectives, "\n")))
		of := hash + "-" + hex.EncodeToString(sum[:4])
		cli.Keep(ctx, store, history.Result{
			Time: s.Time, Commit: s.Commit, Scenario: s.Scenario, Hash: of, Machine: s.Machine, Redline: s.Redline,
			Kind: history.Knee, Dir: dir,
			Figures: []history.Figure{
				{Metric: "capacity", Unit: "1/s", Higher: true, Value: a.Knee.Rate, Low: a.Knee.Low, High: a.Knee.High},
			},
		}, nil, note)
	}
	cli.KeepSession(ctx, store, s, err, note)
}

func kneeTrial(s knee.Step) history.Trial {
	out := history.Trial{
		Phase: string(s.Phase), Setting: notation.Rate(s.Rate) + "/s", Outcome: string(s.Outcome),
		Metric: "served", Unit: "1/s", Value: s.Served,
	}
	if s.Rate == 0 {
		out.Setting = notation.Counted(int64(s.Connections), "connection", "connections")
	}
	var note []string
	if s.P99 > 0 {
		note = append(note, fmt.Sprintf("p99 %s", notation.Duration(s.P99)))
	}
	if s.Requests == 0 {
		out.Value = math.NaN()
	}
	out.Note = strings.Join(append(note, s.Why...), "; ")
	return out
}
