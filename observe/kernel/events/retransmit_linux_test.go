//go:build amd64 || arm64

package events

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/observe/observetest"
	"github.com/redline-go/redline/record/series"
)

const (
	ext4Magic = 0xEF53
	f2fsMagic = 0xF2F52010
)

// toldBy reports whether the file is on a file system whose syncs are reported.
func toldBy(t *testing.T, f *os.File) bool {
	t.Helper()
	var stat unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	return stat.Type == ext4Magic || stat.Type == f2fsMagic
}

// Segments that a program drops are retransmitted, and counted as the kernel
// counts them, by the socket that sent them.
func TestRetransmissionsAgainstTheKernel(t *testing.T) {
	drop := dropper(t)
	// Several, so that one whose retransmissions were lost as well, and which
	// waits for its timer, does not delay the test.
	port := smallSegments(t, 8, func(server, client net.Conn) {
		go func() { // until the test closes the connection
			block := make([]byte, 64<<10)
			for {
				if _, err := server.Write(block); err != nil {
					return
				}
			}
		}()
		go func() { _, _ = io.Copy(io.Discard, client) }()
	})
	const want = 10_000
	s, sink := watch(t, os.Getpid(), func() { t.Cleanup(drop(uint16(port))) },
		func(sink *observetest.Sink) bool { return sum(sink, series.TCPRetransmits, "") >= want })
	reported := sum(sink, series.TCPRetransmits, "")
	if by := sum(sink, series.TCPRetransmitBy, fmt.Sprintf("local=%d", port)); by < 0.99*reported &&
		!strings.Contains(s.Health().Why, "too many retransmissions") {
		t.Errorf("%v of %v retransmissions are told by their port", by, reported)
	}
	d := sink.Last(series.KernelCalibration, "of=retransmits")
	t.Logf("%v retransmitted; eBPF minus kernel %+v", reported, d)
	if max(d, -d) > reported/100 {
		t.Errorf("eBPF differs from the kernel by %v of %v retransmissions", d, reported)
	}
}

// smallSegments opens n connections over loopback to the port that it returns,
// and calls f with both ends of each. Their segments are as small as those of a
// network, so that the kernel sends many at once.
func smallSegments(t *testing.T, n int, f func(server, client net.Conn)) (port int) {
	t.Helper()
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		_ = c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_MAXSEG, 1400) })
		return err
	}}
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	// The listener stays: its port identifies the connection's owner.
	t.Cleanup(func() { _ = l.Close() })
	for range n {
		client, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = client.Close() })
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Close() })
		f(server, client)
	}
	return l.Addr().(*net.TCPAddr).Port
}

// dropper returns a function that drops one in 32 of the packets that come
// to this process from a TCP port, until the function that it returns is called.
// They are dropped where they arrive, because a sender learns of packets dropped on their
// way out and does not count these as sent again. It makes its own control group for this,
// and skips the test if it cannot.
func dropper(t *testing.T) (drop func(port uint16) (stop func())) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("needs root: a control group with a program that drops packets is made")
	}
	group := cgroup(t)
	return func(port uint16) func() {
		program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
			Type: ebpf.CGroupSKB, AttachType: ebpf.AttachCGroupInetIngress, License: "GPL",
			Instructions: dropping(port),
		})
		if err != nil {
			t.Skipf("a dropping program: %v", err)
		}
		l, err := link.AttachCgroup(link.CgroupOptions{Path: group, Attach: ebpf.AttachCGroupInetIngress, Program: program})
		if err != nil {
			t.Skipf("attach a dropping program: %v", err)
		}
		_ = program.Close() // the link keeps it
		return func() { _ = l.Close() }
	}
}

// dropping is a program that drops one in 32 of the packets of more than 100
// bytes from a port.
func dropping(port uint16) asm.Instructions {
	const (
		length = 0  // offset of __sk_buff.len
		source = 20 // of the port, behind an IPv4 header without options
	)
	return asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R7, asm.R6, length, asm.Word),
		asm.JLT.Imm(asm.R7, 100, "pass"),
		asm.Mov.Imm(asm.R2, source),
		asm.Mov.Reg(asm.R3, asm.RFP),
		asm.Add.Imm(asm.R3, -8),
		asm.Mov.Imm(asm.R4, 2),
		asm.FnSkbLoadBytes.Call(),
		asm.JNE.Imm(asm.R0, 0, "pass"),
		asm.LoadMem(asm.R7, asm.RFP, -8, asm.Half),
		asm.HostTo(asm.BE, asm.R7, asm.Half),
		asm.JNE.Imm(asm.R7, int32(port), "pass"),
		asm.FnGetPrandomU32.Call(),
		asm.And.Imm(asm.R0, 31),
		asm.JNE.Imm(asm.R0, 0, "pass"),
		asm.Mov.Imm(asm.R0, 0),
		asm.Return(),
		asm.Mov.Imm(asm.R0, 1).WithSymbol("pass"),
		asm.Return(),
	}
}

// cgroup makes a group of version 2 and moves this process there for the test.
func cgroup(t *testing.T) (path string) {
	t.Helper()
	root := ""
	for _, candidate := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		var stat unix.Statfs_t
		if unix.Statfs(candidate, &stat) == nil && stat.Type == unix.CGROUP2_SUPER_MAGIC {
			root = candidate
		}
	}
	if root == "" {
		t.Skip("no cgroup of version 2 is mounted")
	}
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skip(err)
	}
	own := ""
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "0::"); ok {
			own = filepath.Join(root, strings.TrimSpace(rest))
		}
	}
	path = filepath.Join(own, fmt.Sprintf("redline-test-%d", os.Getpid()))
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Skip(err)
	}
	move := func(group string) error {
		return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(fmt.Sprint(os.Getpid())), 0)
	}
	t.Cleanup(func() {
		if err := errors.Join(move(own), os.Remove(path)); err != nil {
			t.Error(err)
		}
	})
	if err := move(path); err != nil {
		t.Skip(err)
	}
	return path
}
