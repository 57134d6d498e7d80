package tree

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/observe"
)

// start starts a command that ends with its standard input, which the returned
// function closes before it waits.
func start(t *testing.T, cmd *exec.Cmd) (end func()) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("start %v: %v", cmd, err)
	}
	end = func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	}
	t.Cleanup(end)
	return end
}

func TestDescendantsAreMembers(t *testing.T) {
	// The inner shell reports that it runs; cat is its child.
	cmd := exec.Command("sh", "-c", `sh -c 'echo up; cat; true'; true`)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	end := start(t, cmd)
	if _, err := stdout.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	tree, err := Open("", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if n := len(tree.Members); n < 2 || tree.Members[0].PID != cmd.Process.Pid {
		t.Errorf("%d members, the first %d", n, tree.Members[0].PID)
	}
	if !tree.Alive() {
		t.Error("a living process is not alive")
	}
	end()
	if tree.Alive() {
		t.Error("the tree outlives its processes")
	}
	var refusal *observe.Unsupported
	for _, pid := range []int{cmd.Process.Pid, 0, -1} {
		if _, err := Open("", pid); !errors.As(err, &refusal) {
			t.Errorf("Open of process %d: %v", pid, err)
		}
	}
}

// The process is held, not its number: once it has ended, nothing can be read through
// it.
func TestEndedProcessIsGone(t *testing.T) {
	cmd := exec.Command("cat")
	end := start(t, cmd)
	p, err := Hold("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	text, inode, err := p.Read("net/snmp", nil)
	if err != nil || inode == 0 || len(text) == 0 {
		t.Fatalf("%d bytes, inode %d, %v", len(text), inode, err)
	}
	end()
	if _, _, err := p.Read("net/snmp", nil); !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ESRCH) {
		t.Errorf("reading an ended process: %v", err)
	}
}

// TestEndsWhileOpened: a process that lives when it is looked at first, and no longer at the next look.
func TestEndsWhileOpened(t *testing.T) {
	root := t.TempDir()
	stat := filepath.Join(root, "proc", "42", "stat")
	if err := os.MkdirAll(filepath.Dir(stat), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(stat, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := filepath.Join(root, "ended")
	if err := os.WriteFile(ended, []byte("42 (app) Z 1 42"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		first, err := os.OpenFile(stat, os.O_WRONLY, 0) // until the first look has opened it
		if err == nil {
			err = os.Rename(ended, stat)
			_, _ = first.WriteString("42 (app) S 1 42")
			_ = first.Close()
		}
		done <- err
	}()
	tree, err := Open(root, 42)
	if failed := <-done; failed != nil {
		t.Fatal(failed)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if len(tree.Members) == 0 {
		t.Fatal("a tree without a member is open")
	}
	tree.Look()
	var refusal *observe.Unsupported
	if p, err := tree.First(); !errors.As(err, &refusal) || p != nil {
		t.Errorf("the first of no member: %v, %v", p, err)
	}
}

func TestLinksAreBounded(t *testing.T) {
	p, err := Hold("/proc", os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	n := 0
	more, err := p.Links("fd", 2, func(target []byte) { n++ })
	if err != nil || !more || n > 2 {
		t.Errorf("%d links, more: %v, %v", n, more, err)
	}
}

// Another network namespace is entered for the call only.
func TestInNamespace(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root: a network namespace is made")
	}
	cmd := exec.Command("cat")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	start(t, cmd)
	p, err := Hold("/proc", cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if p.shares() {
		t.Fatal("the namespaces are taken for one")
	}
	theirs, err := p.Inode("ns/net")
	if err != nil {
		t.Fatal(err)
	}
	namespace := func() uint64 {
		var stat unix.Stat_t
		if err := unix.Stat("/proc/thread-self/ns/net", &stat); err != nil {
			t.Error(err)
		}
		return stat.Ino
	}
	own, inside := namespace(), uint64(0)
	if err := p.InNamespace(func() error { inside = namespace(); return nil }); err != nil {
		t.Fatal(err)
	}
	if inside != theirs || namespace() != own {
		t.Errorf("inside %d, want %d; afterwards %d, want %d", inside, theirs, namespace(), own)
	}
}

func FuzzParent(f *testing.F) {
	f.Add([]byte("42 (a) S 9 9 (b) S 7 42"))
	f.Add([]byte("42 (app) Z 1 42"))
	f.Add([]byte("42 (app)"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if pid, ok := parent(text); ok && pid < 0 {
			t.Errorf("parent %d of %q", pid, text)
		}
	})
}

// TestRecycledPidIsAnother gives the pid of an ended process to another one, as
// the kernel does once pids wrap around: the tree does not take it for the
// first, nor for a child of it.
func TestRecycledPidIsAnother(t *testing.T) {
	const last = "/proc/sys/kernel/ns_last_pid" // the next process gets the number after it
	first := exec.Command("cat")
	end := start(t, first)
	pid := first.Process.Pid
	target, err := Open("", pid)
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	end()
	for range 100 { // another fork of this host may come in between
		if err := os.WriteFile(last, []byte(strconv.Itoa(pid-1)), 0); err != nil {
			t.Skipf("this machine does not let a pid be chosen: %v", err)
		}
		second := exec.Command("cat")
		endSecond := start(t, second)
		if second.Process.Pid != pid {
			endSecond()
			continue
		}
		defer endSecond()
		target.Look()
		if target.Alive() {
			t.Errorf("process %d is taken for the one that ended", pid)
		}
		for _, member := range target.Members {
			if text, _, err := member.Read("stat", nil); err == nil {
				t.Errorf("a member is still read: %s", text)
			}
		}
		return
	}
	t.Skipf("pid %d was not given out again in 100 attempts", pid)
}
