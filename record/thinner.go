package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/redline-go/redline/record/disk"
	"github.com/redline-go/redline/record/windows"
)

// thinner joins old files into coarser ones, in a goroutine of its own. Its inputs are
// closed files, so it never holds the writer's lock: windows do not wait for it, and it
// keeps at most a few minutes of values in memory.
type thinner struct {
	steps []func() (did bool, err error)

	wake    chan struct{}
	stop    chan struct{}
	stopped chan struct{}
	failed  []error // of each step, until it succeeds; read after stopped
}

func newThinner(steps ...func() (bool, error)) *thinner {
	return &thinner{steps: steps, failed: make([]error, len(steps)), wake: make(chan struct{}, 1), stop: make(chan struct{}),
		stopped: make(chan struct{})}
}

// run works until close.
func (t *thinner) run() {
	defer close(t.stopped)
	for {
		select {
		case <-t.stop:
			return
		case <-t.wake:
			t.catchUp(t.stop)
		}
	}
}

// kick wakes the goroutine.
func (t *thinner) kick() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// catchUp does the due steps, until stop is closed. A step that failed (a full disk)
// is tried again at the next minute.
func (t *thinner) catchUp(stop <-chan struct{}) {
	for i, step := range t.steps {
		for {
			select {
			case <-stop:
				return
			default:
			}
			did, err := step()
			if did || err != nil {
				t.failed[i] = err
			}
			if err != nil || !did {
				break
			}
		}
	}
}

// close ends the goroutine and does the remaining steps. It returns the errors of those
// that failed to the last.
func (t *thinner) close() error {
	close(t.stop)
	<-t.stopped
	t.catchUp(nil)
	return errors.Join(t.failed...)
}

// joinJournal does the next step of the journal.
func (w *Writer) joinJournal() (did bool, err error) {
	j, ok := w.journal.next()
	if !ok {
		return false, nil
	}
	t := windows.New(w.window)
	for _, p := range j.parts {
		if err := readPart(w.dir, p.path, p.factor, t); err != nil {
			return false, err
		}
	}
	t.Finish()
	if t, err = t.Thinned(j.factor); err != nil {
		return false, fmt.Errorf("%v: %w", j, err)
	}
	err = disk.WriteFile(w.dir, j.path(), func(out io.Writer) error { return windows.WriteThinned(out, t) })
	if err != nil {
		return false, err
	}
	return true, w.replace(w.journal, j, t.Size())
}

// replace notes the file that a step made and removes those it was made from.
func (w *Writer) replace(c *chain, j joint, points int) error {
	var size int64
	if info, err := os.Stat(filepath.Join(w.dir, j.path())); err == nil {
		size = info.Size()
	}
	c.done(j, size, points)
	for _, p := range j.parts {
		if err := os.Remove(filepath.Join(w.dir, p.path)); err != nil {
			return fmt.Errorf("remove %s: %w", filepath.Join(w.dir, p.path), disk.WithoutPath(err))
		}
	}
	return nil
}
