package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/redline-go/redline/record"
	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/service/revision"
	"github.com/redline-go/redline/verify"
)

// The files of a session's directory.
const (
	File       = "session.json"
	blocksFile = "blocks.jsonl"
	// ResultFile is the Result, written at the end.
	ResultFile = "ab.json"
)

// Kinds of pair.
const (
	identical = "aa" // of side A with itself
	compared  = "ab"
	alone     = "b" // not a pair: side B alone; A is empty
)

const sessionSchema = "redline.session/1"

// maxBlocks bounds the lines of the log: more than any session measures.
const maxBlocks = 10_000

// maxBlock bounds a line of the log, which a resumed session reads back.
const maxBlock = 4 << 20

// Header describes a session's comparison; a session resumes only with an equal one.
type Header struct {
	Schema string `json:"schema"`
	// A and B describe the sides in words, without secrets.
	A    string          `json:"a"`
	B    string          `json:"b"`
	Plan json.RawMessage `json:"scenario"`
	Seed uint64          `json:"seed"`
	Host record.Host     `json:"host"`

	// Sums are those of the sides' binaries, as in Side; early versions did not note them.
	Sums [2]string `json:"sums,omitzero"`

	// Side b's version and circumstances, for later comparisons.
	Begun   time.Time       `json:"begun,omitzero"`
	Commit  revision.Commit `json:"b_commit,omitzero"`
	Go      string          `json:"b_go_version,omitempty"` // empty unless it is a Go binary
	Redline string          `json:"redline,omitempty"`      // version
	Block   time.Duration   `json:"block_ns,omitempty"`     // measured time of each launch
	// OwnEnv says that side b had an environment of its own, unlike other results of its commit.
	OwnEnv bool `json:"b_own_environment,omitempty"`
}

// Log keeps the pairs of a session on disk, so that an interrupted one loses at
// most the pair in progress. A nil Log keeps nothing.
type Log struct {
	dir   string
	file  *os.File
	lock  *os.File // held until Close or Finish
	pairs map[string][]verify.Pair
}

type logged struct {
	Kind string `json:"kind"` // "aa" or "ab"
	verify.Pair
}

// Create begins the log of a new session in dir, which must not hold one. The
// session is reserved for this process until Close or Finish.
func Create(dir string, h Header) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	return locked(dir, func() (*Log, error) {
		if _, err := os.Stat(filepath.Join(dir, File)); err == nil {
			return nil, fmt.Errorf("session: %s holds one already (hint: --resume continues it)", dir)
		}
		h.Schema = sessionSchema
		if err := disk.WriteJSON(dir, File, h); err != nil {
			return nil, err
		}
		return open(dir)
	})
}

// locked opens a log under the session's lock, which the log then holds.
func locked(dir string, open func() (*Log, error)) (*Log, error) {
	held, err := lock(dir)
	if err != nil {
		return nil, err
	}
	l, err := open()
	if err != nil {
		held.Close()
		return nil, err
	}
	l.lock = held
	return l, nil
}

// ErrFinished is why a session with a result is not resumed: its looks have spent its error rate, and
// further ones would spend it again.
var ErrFinished = errors.New("the session has its result, and further looks would err more often than it states (hint: begin " +
	"anew with another -o)")

// Resume opens the log of an interrupted session; ErrFinished is for one that has a
// result. The header must have the same sides, scenario, host and length of a block; the
// session's own seed is returned. The session is reserved for this process until Close
// or Finish.
func Resume(dir string, h Header) (*Log, uint64, error) {
	path := filepath.Join(dir, File)
	if info, err := os.Stat(path); err == nil && info.Size() > record.MaxRunJSON {
		return nil, 0, fmt.Errorf("resume %s: larger than %d bytes, so redline did not write it", path, record.MaxRunJSON)
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, fmt.Errorf("resume %s: it holds no session: %w", dir, err)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("resume: %w", err)
	}
	var old Header
	if err := json.Unmarshal(data, &old); err != nil {
		return nil, 0, fmt.Errorf("resume %s: %w", path, err)
	}
	// Pairs of another version may have been measured or decided differently and
	// must not be mixed.
	if old.Schema != sessionSchema {
		return nil, 0, fmt.Errorf("resume %s: schema %q is not %q, which this version continues (hint: begin "+
			"anew with another -o)", path, old.Schema, sessionSchema)
	}
	if field := differs(old, h); field != "" {
		return nil, 0, fmt.Errorf("resume %s: its %s is not that of this command", dir, field)
	}
	l, err := locked(dir, func() (*Log, error) {
		if _, err := os.Stat(filepath.Join(dir, ResultFile)); err == nil {
			return nil, fmt.Errorf("resume %s: %w", dir, ErrFinished)
		}
		return open(dir)
	})
	return l, old.Seed, err
}

// differs names the first field in which a session differs from an earlier one, a; "" if they are equal.
func differs(a, b Header) string {
	switch {
	case a.A != b.A:
		return "side a"
	case a.B != b.B:
		return "side b"
	case a.Sums[0] != "" && a.Sums[0] != b.Sums[0]:
		return "binary of side a"
	case a.Sums[1] != "" && a.Sums[1] != b.Sums[1]:
		return "binary of side b"
	case !alike(a.Plan, b.Plan):
		return "scenario"
	case !alike(a.Host, b.Host):
		return "host"
	case a.Block > 0 && a.Block != b.Block: // early versions did not note it
		return "--block"
	}
	return ""
}

// alike reports whether two values have the same JSON.
func alike(x, y any) bool {
	one, err1 := json.Marshal(x)
	two, err2 := json.Marshal(y)
	return err1 == nil && err2 == nil && bytes.Equal(one, two)
}

// open reads the log, and prepares to append after its last whole line.
func open(dir string) (*Log, error) {
	l := &Log{dir: dir, pairs: map[string][]verify.Pair{}}
	path := filepath.Join(dir, blocksFile)
	whole, err := l.read(path)
	if err != nil {
		return nil, err
	}
	if l.file, err = disk.ContinueLines(path, whole); err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	return l, nil
}

// read reads the complete pairs, and returns the offset at which they end.
func (l *Log) read(path string) (whole int64, err error) {
	whole, err = disk.ReadLines(path, disk.Bounds{Lines: maxBlocks, Longest: maxBlock}, func(line []byte) error {
		var b logged
		if err := json.Unmarshal(line, &b); err != nil {
			return fmt.Errorf("%w (hint: the file is damaged: start over with another -o)", err)
		}
		if !b.A.Latency.Possible() || !b.B.Latency.Possible() {
			return errors.New("invalid latencies (hint: the file is damaged: start over with another -o)")
		}
		l.pairs[b.Kind] = append(l.pairs[b.Kind], b.Pair)
		return nil
	})
	if err != nil {
		return 0, fmt.Errorf("session: %w", err)
	}
	return whole, nil
}

// add appends a pair with one write, so that a kill truncates at most this line.
func (l *Log) add(kind string, n int, p verify.Pair) error {
	if l == nil {
		return nil
	}
	line, err := json.Marshal(logged{kind, p})
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	if _, err := l.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	l.pairs[kind] = append(l.pairs[kind][:n:n], p)
	return nil
}

// pair returns the n-th pair of a kind, if it was measured.
func (l *Log) pair(kind string, n int) (verify.Pair, bool) {
	if l == nil || n >= len(l.pairs[kind]) {
		return verify.Pair{}, false
	}
	return l.pairs[kind][n], true
}

// Pairs returns the log's pairs: of side A with itself, and of both.
func (l *Log) Pairs() (same, both []verify.Pair) {
	if l == nil {
		return nil, nil
	}
	return l.pairs[identical], l.pairs[compared]
}

func (l *Log) count(kind string) int {
	if l == nil {
		return 0
	}
	return len(l.pairs[kind])
}

// Finish writes the result next to the blocks and closes the log.
func (l *Log) Finish(r verify.Result) error {
	if l == nil {
		return nil
	}
	return errors.Join(disk.WriteJSON(l.dir, ResultFile, r), l.Close())
}

// Close ends the log without a result, so that the session can be resumed. After
// Finish it does nothing.
func (l *Log) Close() error {
	if l == nil || l.file == nil {
		return nil
	}
	err := errors.Join(l.file.Close(), l.lock.Close())
	l.file, l.lock = nil, nil
	return err
}
