package record

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redline-go/redline/record/timebase"
)

// handled creates a bundle whose thinner is idle: the test takes the steps itself.
func handled(t *testing.T) *Writer {
	t.Helper()
	w := create(t)
	close(w.thinner.stop)
	<-w.thinner.stopped
	w.thinner = newThinner()
	close(w.thinner.stopped)
	return w
}

// TestMergedProfilesMakeRoom: a bundle that is full of profiles takes more once old ones
// are merged.
func TestMergedProfilesMakeRoom(t *testing.T) {
	w := handled(t)
	const n = 30 // of a minute each: six groups, all but three minutes of them old
	for i := range n {
		must(t, w.Profile(cpuAt(t, i)))
	}
	for i := n; i < MaxFiles; i++ {
		must(t, w.files.take(fmt.Sprint("other ", i)))
	}
	if err := w.Profile(cpuAt(t, n)); err == nil || !strings.Contains(err.Error(), "there are 100000 files already") {
		t.Fatalf("a profile too many: %v", err)
	}
	did, err := w.joinProfiles()
	must(t, err)
	if !did {
		t.Fatal("nothing was merged")
	}
	for i := range 4 { // five became one
		must(t, w.Profile(cpuAt(t, n+i)))
	}
	if err := w.Profile(cpuAt(t, n+4)); err == nil {
		t.Error("the file that was made from the others is not counted")
	}
}

// cpuAt is the CPU profile of the i-th minute.
func cpuAt(t *testing.T, i int) Profile {
	from := time.Duration(i) * time.Minute
	return Profile{Type: "cpu", Span: timebase.Span{From: from, To: from + time.Minute}, Data: cpuProfile(t, 1)}
}

// TestRefusalLeavesTheName: what was refused for its size is taken when it is small enough.
func TestRefusalLeavesTheName(t *testing.T) {
	w := create(t)
	p := Profile{Type: "cpu", Span: spanOf(0, 1), Data: make([]byte, MaxProfile+1)}
	if err := w.Profile(p); err == nil {
		t.Fatal("a profile over the bound was taken")
	}
	p.Data = nil
	must(t, w.Profile(p))
}

// TestThinnerForgetsWhatWasMended: a step that failed and then succeeded is no error of
// the run; one that fails to the last is, beside the other steps.
func TestThinnerForgetsWhatWasMended(t *testing.T) {
	full := errors.New("no space left")
	answers := []error{full, nil}
	mended := func() (bool, error) {
		if len(answers) == 0 {
			return false, nil
		}
		err := answers[0]
		answers = answers[1:]
		return err == nil, err
	}
	th := newThinner(mended)
	close(th.stopped)
	th.catchUp(nil)
	if err := th.close(); err != nil {
		t.Errorf("after it succeeded: %v", err)
	}
	answers = []error{nil}
	th = newThinner(func() (bool, error) { return false, full }, mended)
	close(th.stopped)
	if err := th.close(); !errors.Is(err, full) {
		t.Errorf("of a step that never succeeded: %v", err)
	}
}
