package main

// The built command on a host where something is missing: a full or read-only disk, no
// /proc, system calls that a sandbox or an old kernel refuses, no privileges. The
// test binary gives these up, in its own namespaces, and then becomes redline.

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix" // mounts and seccomp
)

// confined is the variable that lists what to give up before redline runs:
//
//	proc           an empty, read-only /proc
//	ro=DIR         DIR is read-only
//	disk=DIR:SIZE  DIR is an empty file system of SIZE bytes
//	full=DIR       the same, with no byte left
//	refuse=ERRNO:NUMBER,NUMBER...   system calls that fail
const confined = "REDLINE_TEST_CONFINED"

// Subtle: this runs before TestMain, on the first thread, whose filter exec keeps.
func init() {
	words, asked := os.LookupEnv(confined)
	if !asked {
		return
	}
	err := os.Unsetenv(confined)
	for word := range strings.FieldsSeq(words) {
		if err == nil {
			err = giveUp(word)
		}
	}
	if err == nil {
		err = syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "confine:", err)
	os.Exit(99)
}

func giveUp(word string) error {
	what, where, _ := strings.Cut(word, "=")
	if what != "refuse" {
		if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return fmt.Errorf("make the mounts private: %w", err)
		}
	}
	switch what {
	case "proc":
		return unix.Mount("none", "/proc", "tmpfs", unix.MS_RDONLY, "")
	case "ro":
		return errors.Join(unix.Mount(where, where, "", unix.MS_BIND, ""),
			unix.Mount("", where, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, ""))
	case "full":
		return errors.Join(unix.Mount("none", where, "tmpfs", 0, "size=64k"), fill(where))
	case "refuse":
		return refuse(where)
	}
	return fmt.Errorf("%q is nothing to give up", word)
}

// fill uses up all the space of a file system.
func fill(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, "filler"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	for chunk := 1 << 16; chunk > 0; {
		if _, err := f.Write(make([]byte, chunk)); err != nil {
			if !errors.Is(err, syscall.ENOSPC) {
				return err
			}
			chunk /= 2
		}
	}
	return nil
}

// refuse installs a seccomp filter (seccomp(2)) under which the system calls fail.
func refuse(list string) error {
	errno, numbers, _ := strings.Cut(list, ":")
	code, err := strconv.Atoi(errno)
	if err != nil {
		return err
	}
	const numberAt = 0 // of struct seccomp_data
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: numberAt}}
	for text := range strings.SplitSeq(numbers, ",") {
		number, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return err
		}
		filter = append(filter,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: uint32(number), Jf: 1},
			unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(code)})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

// invokeConfined runs redline confined as words says.
func invokeConfined(t *testing.T, words string, args ...string) result {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to make namespaces")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	i := &invocation{cmd: exec.CommandContext(t.Context(), self, append([]string{redline}, args...)...)}
	i.cmd.Dir = t.TempDir()
	i.cmd.Env = append(os.Environ(), confined+"="+words)
	i.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS}
	i.cmd.Stdout, i.cmd.Stderr = &i.stdout, &i.stderr
	if err := i.cmd.Start(); err != nil {
		if errors.Is(err, unix.EPERM) {
			t.Skipf("namespaces cannot be made here: %v", err)
		}
		t.Fatal(err)
	}
	r := finish(t, i)
	if r.code == 99 {
		t.Fatal(r.stderr)
	}
	return r
}

// asNobody runs redline as a user without privileges, in a folder of that user.
type asNobody struct{ dir, binary string }

const nobody = 65534

func becomeNobody(t *testing.T) asNobody {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root, to become somebody else")
	}
	dir, err := os.MkdirTemp("", "nobody") // other users cannot enter t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n := asNobody{dir: filepath.Join(dir, "own"), binary: filepath.Join(dir, "redline")}
	from, err := os.Open(redline)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(n.binary, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Chmod(0o755), to.Close(), os.Chmod(dir, 0o755), os.Mkdir(n.dir, 0o755),
		os.Chown(n.dir, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n asNobody) invoke(t *testing.T, args ...string) result {
	t.Helper()
	i := &invocation{cmd: exec.CommandContext(t.Context(), n.binary, args...)}
	i.cmd.Dir = n.dir
	i.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + n.dir, "TMPDIR=" + n.dir}
	i.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	i.cmd.Stdout, i.cmd.Stderr = &i.stdout, &i.stderr
	if err := i.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return finish(t, i)
}
