package tree

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix" // openat relative to a process's directory
)

// maxFile bounds the bytes read of one file of /proc.
const maxFile = 256 << 10

// Process is one process of the target.
type Process struct {
	PID int
	dir int // descriptor of its directory
	// pidfd becomes readable when the process ends; -1 before Linux 5.3 and for
	// processes of a recorded tree.
	pidfd int
}

// Hold opens the directory of a process below a mount point of procfs.
func Hold(proc string, pid int) (*Process, error) {
	path := proc + "/" + strconv.Itoa(pid)
	dir, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	p := &Process{PID: pid, dir: dir, pidfd: -1}
	if proc == "/proc" {
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			p.pidfd = fd
			// Subtle: if the directory's process ended in between, that is another's.
			if _, _, err := p.Read("stat", nil); err != nil {
				p.Close()
				return nil, err
			}
		}
	}
	return p, nil
}

// Close closes the directory.
func (p *Process) Close() {
	_ = unix.Close(p.dir) // both were opened for reading only
	if p.pidfd >= 0 {
		_ = unix.Close(p.pidfd)
	}
}

// ended reports whether the process has ended, reaped or not; known is false
// if only its stat file shows it.
func (p *Process) ended() (ended, known bool) {
	if p.pidfd < 0 {
		return false, false
	}
	poll := []unix.PollFd{{Fd: int32(p.pidfd), Events: unix.POLLIN}}
	n, err := retry(func() (int, error) { return unix.Poll(poll, 0) })
	return n > 0, err == nil
}

// Read reads a file of the process into buf, growing it as needed, and returns
// the text and the file's inode. Files below net/ have inodes that differ
// between network namespaces. After the process ended, the error satisfies Gone.
func (p *Process) Read(file string, buf []byte) (text []byte, inode uint64, err error) {
	fail := func(op string, err error) ([]byte, uint64, error) {
		return buf, 0, &fs.PathError{Op: op, Path: "/proc/" + strconv.Itoa(p.PID) + "/" + file, Err: err}
	}
	fd, err := retry(func() (int, error) { return unix.Openat(p.dir, file, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return fail("open", err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fail("stat", err)
	}
	buf = buf[:cap(buf)]
	for n := 0; ; {
		if n == len(buf) {
			if n >= maxFile {
				return fail("read", errors.New("file too large"))
			}
			buf = append(buf, make([]byte, max(n, 4<<10))...)
		}
		more, err := retry(func() (int, error) { return unix.Read(fd, buf[n:]) })
		if err != nil {
			return fail("read", err)
		}
		if n += more; more == 0 {
			return buf[:n], stat.Ino, nil
		}
	}
}

// Inode returns the inode that a path of the process leads to: of ns/net, the
// number of its network namespace.
func (p *Process) Inode(file string) (uint64, error) {
	var stat unix.Stat_t
	if err := unix.Fstatat(p.dir, file, &stat, 0); err != nil {
		return 0, &fs.PathError{Op: "stat", Path: "/proc/" + strconv.Itoa(p.PID) + "/" + file, Err: err}
	}
	return stat.Ino, nil
}

// Links calls f with the targets of the links in a directory of the process, at
// most limit of them, and returns whether there were more. The bytes are valid
// during the call only.
func (p *Process) Links(dir string, limit int, f func(target []byte)) (more bool, err error) {
	fd, err := retry(func() (int, error) {
		return unix.Openat(p.dir, dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return false, &fs.PathError{Op: "open", Path: "/proc/" + strconv.Itoa(p.PID) + "/" + dir, Err: err}
	}
	defer unix.Close(fd)
	var entries [8 << 10]byte
	var target [256]byte
	var names []string
	for {
		n, err := retry(func() (int, error) { return unix.ReadDirent(fd, entries[:]) })
		if err != nil {
			return false, fmt.Errorf("list %s of process %d: %w", dir, p.PID, err)
		}
		if n == 0 {
			return false, nil
		}
		_, _, names = unix.ParseDirent(entries[:n], -1, names[:0])
		for _, name := range names {
			if limit--; limit < 0 {
				return true, nil
			}
			if size, err := unix.Readlinkat(fd, name, target[:]); err == nil { // else closed since it was listed
				f(target[:size])
			}
		}
	}
}

// parent parses /proc/<pid>/stat (proc_pid_stat(5)) as far as the parent's pid.
// The command's name stands in parentheses and may hold any byte. ok is false
// when the line is malformed or the process waits to be reaped.
func parent(stat []byte) (pid int, ok bool) {
	end := bytes.LastIndexByte(stat, ')')
	fields := bytes.Fields(stat[end+1:])
	if end < 0 || len(fields) < 2 || len(fields[0]) != 1 || bytes.ContainsAny(fields[0], "ZXx") {
		return 0, false
	}
	pid, err := strconv.Atoi(string(fields[1]))
	return pid, err == nil && pid >= 0
}

// retry repeats a system call that a signal interrupted: the runtime preempts goroutines
// by signals.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if !errors.Is(err, unix.EINTR) {
			return n, err
		}
	}
}
