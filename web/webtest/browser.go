package webtest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Walk has a script of dir/test look at a page in a browser, and unmarshals what it saw into seen. All tests of a binary
// share one Chromium, whose start takes longer than most walks; each walk has a context of its own: no cookies, no storage,
// no cache of others.
func Walk(t *testing.T, dir, script string, seen any, args ...string) {
	t.Helper()
	Modules(t, dir)
	path := Chromium(t)
	started.Do(func() { shared, notStarted = start(dir, path) })
	if notStarted != nil {
		t.Fatal(notStarted)
	}
	if err := shared.walk(script, args, left(t), seen); err != nil {
		t.Fatalf("%s %s: %v", script, strings.Join(args, " "), err)
	}
}

// The browser of this test binary. It ends with the binary: its standard input closes then, however the binary ends.
var (
	started    sync.Once
	shared     *browser
	notStarted error
)

// browser is test/browser.mjs at work.
type browser struct {
	mu      sync.Mutex
	in      io.Writer
	last    int
	waiting map[int]chan answer
	gone    error // why it answers no more
}

// answer is what a script saw, or what stopped it.
type answer struct {
	ID    int             `json:"id"`
	Seen  json.RawMessage `json:"seen"`
	Error string          `json:"error"`
}

func start(dir, chromium string) (*browser, error) {
	// go test keeps an outcome as long as what the test itself opened is the same: these files node opens.
	for _, folder := range []string{"test", "dist"} {
		if _, err := os.ReadDir(filepath.Join(dir, folder)); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command("node", "test/browser.mjs", chromium)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	b := &browser{in: in, waiting: map[int]chan answer{}}
	go func() {
		broken := b.read(out)
		ended := cmd.Wait() // after it errs is whole
		b.end(fmt.Errorf("the browser is gone: %w\n%s", errors.Join(broken, ended), errs.Bytes()))
	}()
	return b, nil
}

// read hands answers out until there are no more.
func (b *browser) read(out io.Reader) error {
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return err
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			return fmt.Errorf("%w in %q", err, line)
		}
		b.mu.Lock()
		to := b.waiting[a.ID]
		delete(b.waiting, a.ID)
		b.mu.Unlock()
		if to != nil {
			to <- a
		}
	}
}

// end lets all who wait know that nothing will come.
func (b *browser) end(why error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = why
	for id, to := range b.waiting {
		to <- answer{ID: id, Error: why.Error()}
	}
	clear(b.waiting)
}

func (b *browser) walk(script string, args []string, limit time.Duration, seen any) error {
	got, err := b.ask(script, args, limit)
	if err != nil {
		return err
	}
	a := <-got
	if a.Error != "" {
		return errors.New(a.Error)
	}
	return json.Unmarshal(a.Seen, seen)
}

// ask sends a line to the browser, which ends the walk after limit; 0 is no limit.
func (b *browser) ask(script string, args []string, limit time.Duration) (<-chan answer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.gone != nil {
		return nil, b.gone
	}
	b.last++
	line, err := json.Marshal(struct {
		ID     int      `json:"id"`
		Script string   `json:"script"`
		Args   []string `json:"args"`
		Limit  int64    `json:"limit"` // ms
	}{b.last, "./" + script, append([]string{}, args...), limit.Milliseconds()})
	if err != nil {
		return nil, err
	}
	got := make(chan answer, 1)
	b.waiting[b.last] = got
	_, err = b.in.Write(append(line, '\n'))
	return got, err
}
