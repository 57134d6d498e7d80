package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/redline-go/redline/knee"
	"github.com/redline-go/redline/record/disk"
)

// The files of a session's directory.
const (
	headerFile = "knee-session.json"
	stepsFile  = "steps.jsonl"
	// AnswerFile is the answer, written at the end.
	AnswerFile = "knee.json"
	// atKneeDir is the bundle of the run at the knee.
	atKneeDir = "at-knee"
)

const headerSchema = "redline.knee-session/1"

// Bounds of files that may come from elsewhere.
const (
	mostHeader = 16 << 20
	mostLog    = 64 << 20
	mostSteps  = 10_000
	mostStep   = 4 << 20
)

// line is one of the log: a step, or how the session ended.
type line struct {
	Step *knee.Step `json:"step,omitempty"`
	End  *ending    `json:"end,omitempty"`
}

// ending is how a session ended. A log without one was killed.
type ending struct {
	Ended       string `json:"ended,omitempty"` // why it ended early; empty if it was complete
	Interrupted bool   `json:"interrupted,omitempty"`
}

// log keeps a session's steps, each as it ends.
type log struct {
	dir    string
	header knee.Header
	file   *disk.Appender
	steps  []knee.Step
}

func create(dir string, h knee.Header) (*log, error) {
	if err := disk.WriteJSON(dir, headerFile, h); err != nil {
		return nil, err
	}
	file, err := disk.NewAppender(filepath.Join(dir, stepsFile))
	if err != nil {
		return nil, fmt.Errorf("knee session: %w", err)
	}
	return &log{dir: dir, header: h, file: file}, nil
}

// objectives writes the objectives into the header once they are known.
func (l *log) objectives(o knee.Objectives) error {
	l.header.Objectives, l.header.Reason = []string{}, o.Reason
	for _, t := range o.Thresholds {
		l.header.Objectives = append(l.header.Objectives, t.Expr)
	}
	return disk.WriteJSON(l.dir, headerFile, l.header)
}

func (l *log) add(s knee.Step) error {
	l.steps = append(l.steps, s)
	return l.append(line{Step: &s})
}

func (l *log) append(one line) error {
	data, err := json.Marshal(one)
	if err != nil {
		return fmt.Errorf("knee session: %w", err)
	}
	return l.file.Append(append(data, '\n'))
}

// finish writes the answer next to the steps and closes the log.
func (l *log) finish(ended string, interrupted bool) (*knee.Answer, error) {
	err := l.append(line{End: &ending{ended, interrupted}})
	a := knee.Decide(l.header, l.steps, ended, interrupted)
	return a, errors.Join(err, disk.WriteJSON(l.dir, AnswerFile, a), l.Close())
}

// Close closes the log without an answer.
func (l *log) Close() error { return l.file.Close() }

// read returns what a session's directory holds.
func read(dir string) (h knee.Header, steps []knee.Step, end ending, err error) {
	data, err := disk.Read(dir, headerFile, mostHeader)
	if err != nil {
		return h, nil, end, err
	}
	if err := disk.Unmarshal(data, &h); err != nil {
		return h, nil, end, fmt.Errorf("%s: %w", filepath.Join(dir, headerFile), err)
	}
	if h.Schema != headerSchema {
		return h, nil, end, fmt.Errorf(
			"%s: schema %.60q is not %q, which this version reads",
			filepath.Join(dir, headerFile),
			h.Schema,
			headerSchema,
		)
	}
	if data, err = disk.Read(dir, stepsFile, mostLog); err != nil {
		return h, nil, end, err
	}
	steps, end, err = parse(bytes.NewReader(data))
	if err != nil {
		err = fmt.Errorf("%s: %w", filepath.Join(dir, stepsFile), err)
	}
	return h, steps, end, err
}

// parse reads a log. An incomplete last line, left by a kill, is dropped.
func parse(r io.Reader) (steps []knee.Step, end ending, err error) {
	end = ending{Ended: "the session was killed", Interrupted: true}
	_, err = disk.ScanLines(r, disk.Bounds{Lines: mostSteps, Longest: mostStep}, func(text []byte) error {
		var one line
		if err := disk.Unmarshal(text, &one); err != nil {
			return err
		}
		if one.Step != nil {
			steps = append(steps, *one.Step)
		}
		if one.End != nil {
			end = *one.End
		}
		return nil
	})
	if err != nil {
		return nil, end, err
	}
	return steps, end, nil
}
