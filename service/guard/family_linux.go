package guard

import (
	"errors"
	"os"
	"syscall"
	"unsafe"

	"github.com/prometheus/procfs" // /proc/<pid>/stat, parsed
	"golang.org/x/sys/unix"        // prctl, waitid, pidfd
)

// adopt makes this process the parent of all orphans among its descendants. If the
// kernel refuses, daemons escape, as without a guardian.
func adopt() {
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	// Whoever kills all processes called redline does not mean the guardians.
	name := append([]byte("rl-guardian"), 0)
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0)
}

func duplicate(from, to int) { _ = unix.Dup3(from, to, 0) }

// reapOrphans reaps the children that have ended, except the leader.
func reapOrphans(leader int) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_ALL, 0, &info, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		pid := sender(&info)
		if err != nil || pid == 0 || pid == leader {
			return
		}
		_ = wait(pid)
	}
}

// sender is si_pid: it follows three ints, aligned to a pointer (sigaction(2),
// include/uapi/asm-generic/siginfo.h).
func sender(info *unix.Siginfo) int {
	const align = unsafe.Sizeof(uintptr(0))
	const offset = (3*4 + align - 1) / align * align
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(info), offset)))
}

// family returns the descendants of this process as they are now.
func family() []procfs.ProcStat {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil
	}
	procs, _ := fs.AllProcs()
	children := map[int][]procfs.ProcStat{}
	for _, p := range procs {
		if stat, err := p.Stat(); err == nil { // one that is gone has none
			children[stat.PPID] = append(children[stat.PPID], stat)
		}
	}
	all := children[os.Getpid()]
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i].PID]...)
	}
	return all
}

// signalOutside signals the descendants that are not in the leader's group.
func signalOutside(leader int, s syscall.Signal) {
	for _, d := range family() {
		if d.PGRP != leader {
			signalExactly(d, s)
		}
	}
}

// signalExactly signals a process through a handle, after making sure that the handle
// is for the process that was seen and not for another with the same number.
func signalExactly(seen procfs.ProcStat, s syscall.Signal) {
	fd, err := unix.PidfdOpen(seen.PID, 0)
	if err != nil {
		return // it is gone, or the kernel is older than 5.3; SIGKILL comes anyway
	}
	defer unix.Close(fd)
	p, err := procfs.NewProc(seen.PID)
	if err != nil {
		return
	}
	if now, err := p.Stat(); err == nil && now.Starttime == seen.Starttime {
		_ = unix.PidfdSendSignal(fd, s, nil, 0)
	}
}

// others reports whether any process except the leader is left. It reaps children that
// have ended.
func others(leader int) bool {
	left := false
	for _, d := range family() {
		switch {
		case d.PID == leader:
		case d.State == "Z" && d.PPID == os.Getpid():
			_ = wait(d.PID)
		case d.State != "Z":
			left = true
		}
	}
	return left
}

// killChildren kills and reaps the children, and reports whether none is left. A
// child's number stays its own until it is reaped.
func killChildren() (none bool) {
	if reapEnded() {
		return true
	}
	for _, d := range family() {
		if d.PPID == os.Getpid() {
			_ = syscall.Kill(d.PID, syscall.SIGKILL)
		}
	}
	return reapEnded()
}
