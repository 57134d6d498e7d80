package measure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/tune"
	"github.com/redline-go/redline/verify"
	"github.com/redline-go/redline/verify/session"
)

// The files of a tune's directory. The confirming session has a directory of its own below.
const (
	HeaderFile  = "tuning.json"
	TrialsFile  = "trials.jsonl"
	ResultFile  = "tune.json"
	ConfirmDir  = "confirmation"
	ProfileFile = "default.pgo"
)

const headerSchema = "redline.tuning/1"

// Bounds of a log that is read back.
const (
	maxTrials = 10_000
	maxLine   = 4 << 20
)

// Header says what a tune searches; it can only be continued with an equal one.
type Header struct {
	Schema    string          `json:"schema"`
	Service   string          `json:"service"` // the present side in words, without secrets
	Plan      json.RawMessage `json:"scenario"`
	Objective string          `json:"objective"`
	Knobs     []string        `json:"knobs"` // as given
	Host      record.Host     `json:"host"`

	// Seed and Trials are the tune's own: a resumed tune keeps those that it began with.
	Seed   uint64 `json:"seed"`
	Trials int    `json:"trials"`
	Sweep  bool   `json:"sweep,omitempty"`
	// Searched is how many trials there were when the confirmation began: a resumed tune confirms the same setting, however
	// much time it has. Zero before.
	Searched int `json:"searched,omitempty"`
}

// logged is one line of the trials.
type logged struct {
	tune.Trial
	Values []tune.Value `json:"values"`
	Pair   *verify.Pair `json:"pair,omitempty"` // nil if the candidate was not measured
	// Ignored holds knobs that the target ignored, and the values that it had instead.
	Ignored map[int]string `json:"ignored,omitempty"`
}

// log keeps trials as they are measured. Those of an interrupted tune are replayed
// first.
type log struct {
	file   *os.File
	held   io.Closer // the lock, until close
	replay []logged
}

// openLog begins a log, or continues the one in dir. It is reserved for this process
// until close.
func openLog(dir string, h *Header, resume bool) (_ *log, err error) {
	h.Schema = headerSchema
	path := filepath.Join(dir, TrialsFile)
	held, err := session.Hold(dir)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			held.Close()
		}
	}()
	l := &log{held: held}
	var whole int64
	if resume {
		var old Header
		if err := readJSON(filepath.Join(dir, HeaderFile), &old); err != nil {
			return nil, fmt.Errorf("resume %s: it holds no tune: %w", dir, err)
		}
		if field := old.differs(*h); field != "" {
			return nil, fmt.Errorf("resume %s: its %s is not that of this command", dir, field)
		}
		*h = old
		if whole, err = l.read(path); err != nil {
			return nil, err
		}
	}
	if !resume || h.Trials > 0 {
		if err := disk.WriteJSON(dir, HeaderFile, h); err != nil {
			return nil, err
		}
	}
	if l.file, err = disk.ContinueLines(path, whole); err != nil {
		return nil, fmt.Errorf("tune: %w", err)
	}
	return l, nil
}

// differs names the first field in which two tunes differ; "" if they are equal.
func (h Header) differs(other Header) string {
	same := func(x, y any) bool {
		one, err1 := json.Marshal(x)
		two, err2 := json.Marshal(y)
		return err1 == nil && err2 == nil && bytes.Equal(one, two)
	}
	switch {
	case h.Schema != other.Schema:
		return "schema"
	case h.Service != other.Service:
		return "service"
	case !same(h.Plan, other.Plan):
		return "scenario"
	case h.Objective != other.Objective:
		return "objective"
	case !same(h.Knobs, other.Knobs):
		return "list of knobs"
	case !same(h.Host, other.Host):
		return "host"
	}
	return ""
}

func readJSON(path string, into any) error {
	data, err := disk.Read(filepath.Dir(path), filepath.Base(path), record.MaxRunJSON)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

// read reads the complete trials, and returns the offset at which they end.
func (l *log) read(path string) (whole int64, err error) {
	whole, err = disk.ReadLines(path, disk.Bounds{Lines: maxTrials, Longest: maxLine}, func(line []byte) error {
		var t logged
		if err := json.Unmarshal(line, &t); err != nil {
			return fmt.Errorf("%w (hint: start over with another -o)", err)
		}
		if t.Pair != nil && (!t.Pair.A.Latency.Possible() || !t.Pair.B.Latency.Possible()) {
			return errors.New("invalid latencies (hint: start over with another -o)")
		}
		l.replay = append(l.replay, t)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("tune: %w", err)
	}
	return whole, nil
}

// add appends a trial with one write, so that a kill truncates at most this line.
func (l *log) add(t logged) error {
	line, err := json.Marshal(t)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("tune: %w", err)
	}
	return nil
}

func (l *log) close() error { return errors.Join(l.file.Close(), l.held.Close()) }
