//go:build !linux

package guard

import "syscall"

// There is no subreaper here, so a guardian knows the command and its group, and
// a process that leaves the group gets away.

func adopt() {}

func duplicate(from, to int) { _ = syscall.Dup2(from, to) }

func reapOrphans(int) {}

func signalOutside(int, syscall.Signal) {}

func others(int) bool { return false }

func killChildren() (none bool) { return reapEnded() }
