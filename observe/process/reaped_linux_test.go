package process

import (
	"bufio"
	"os"
	"os/exec"
	"testing"

	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/series"
)

// spawn makes the test binary a target that starts one short process after the other,
// until its standard input ends. Each uses the CPU for some ten milliseconds.
func spawn() {
	over := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
		close(over)
	}()
	os.Stdout.WriteString("spawning\n")
	for {
		select {
		case <-over:
			os.Exit(0)
		default:
		}
		if err := exec.Command("sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").Run(); err != nil {
			os.Exit(1)
		}
	}
}

// TestShortProcessesAreCounted watches a target whose CPU time is its children's, none of
// which lives from one look at the tree to the next.
func TestShortProcessesAreCounted(t *testing.T) {
	cmd := started(t, "REDLINE_TEST_SPAWN=1", "GOMAXPROCS=2")
	sink := watch(t, New(Options{}), cmd.Process.Pid, func(sink *observetest.Sink) bool {
		reaped, _ := sink.Sum(series.ProcessReaped, "")
		return reaped >= 300e6
	})
	reaped, _ := sink.Sum(series.ProcessReaped, "")
	text, err := os.ReadFile((&state{proc: "/proc"}).path(cmd.Process.Pid, "/stat"))
	if err != nil {
		t.Fatal(err)
	}
	st, err := parseStat(text)
	const rounding = 1e-9 // of what windows got of a tick
	if all := float64(st.reaped * tick); err != nil || reaped < 300e6 || reaped > all*(1+rounding) {
		t.Errorf("%v ns of reaped children, of %v in all (%v)", reaped, all, err)
	}
}

// TestReaped checks that no time counts twice: the time that a child used before it was
// first seen, and after it was last seen, comes with its parent's wait; the time counted
// while it was a member does not.
func TestReaped(t *testing.T) {
	var r reaped
	root, child := &member{pid: 1}, &member{pid: 2}
	members := []*member{root}
	look := func(parent, used uint64) uint64 {
		r.waited.next()
		r.add(root, stat{parent: 9, user: 1000, reaped: parent})
		if used > 0 {
			r.add(child, stat{parent: 1, user: used})
		}
		return r.ticks()
	}
	look(500, 0) // before the run: no cost of its
	if got := look(507, 0); got != 7 {
		t.Errorf("%d ticks after a child that was never seen, want 7", got)
	}
	members = append(members, child)
	look(507, 30) // found when it had used 30
	look(507, 80)
	r.end(child, members)
	if got := look(507, 0); got != 7 {
		t.Errorf("%d ticks when a member has ended, want 7", got)
	}
	if got := look(507+85, 0); got != 7+85-50 {
		t.Errorf("%d ticks when it was waited for: of its 85, 50 were counted; want 42", got)
	}
	orphan := &member{pid: 3}
	r.add(orphan, stat{parent: 77, user: 10})
	r.add(orphan, stat{parent: 77, user: 90})
	r.end(orphan, members)
	if got := look(507+85, 0); got != 42 {
		t.Errorf("%d ticks after a member ended that no member waits for, want 42", got)
	}
}
