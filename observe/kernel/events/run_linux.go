//go:build amd64 || arm64

package events

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/tree"
)

// seldom is how often processes and listening ports are looked up.
const seldom = time.Second

// initialPIDs is the inode of the host's PID namespace (PROC_PID_INIT_INO of the
// kernel).
const initialPIDs = 0xEFFFFFFC

// state is acquired by Open and used by Run.
type state struct {
	*Source
	subject observe.Subject
	tree    *tree.Tree
	meter   observe.Meter
	lookAt  time.Duration

	tcp                    *tcpEvents // nil if not attached
	runqueue, block, fsync *distribution
}

// Open implements observe.Source.
func (s *Source) Open(_ context.Context, subject observe.Subject) error {
	t, err := tree.Open("", subject.PID)
	if err != nil {
		return err
	}
	if err := permitted(); err != nil {
		t.Close()
		return err
	}
	st := &state{Source: s, subject: subject, tree: t}
	st.meter.Width = subject.Window
	missing := st.attach()
	if st.tcp == nil && st.runqueue == nil && st.block == nil && st.fsync == nil {
		st.release()
		return refused(missing)
	}
	for _, err := range missing {
		s.vitals.Say("%v", err)
	}
	st.setTargets()
	if st.tcp != nil {
		st.tcp.seed(st)
	}
	s.state = st
	return nil
}

// refused names the missing data when nothing could be attached.
func refused(missing []error) error {
	privilege, absent := true, true
	var reasons []string
	for _, err := range missing {
		privilege, absent = privilege && errors.Is(err, errPermitted), absent && errors.Is(err, errAbsent)
		reasons = append(reasons, err.Error())
	}
	// A cause common to all is named once.
	const lost = "connections, retransmissions by socket, and run-queue, block-device and fsync latency are not counted"
	switch {
	case privilege:
		return &observe.Unsupported{
			What:   "eBPF is not permitted, so " + lost,
			Enable: "run redline as root or with CAP_BPF and CAP_PERFMON; in a container, allow bpf in its seccomp profile too",
		}
	case absent:
		return &observe.Unsupported{
			What:   "this kernel lacks a feature that the eBPF programs need, so " + lost,
			Enable: "run Linux 5.11 or later with CONFIG_DEBUG_INFO_BTF; in a sandbox, allow the system call bpf",
		}
	}
	return &observe.Unsupported{
		What:   "eBPF programs cannot be attached",
		Enable: "run redline as root, on Linux 5.11 or later with CONFIG_DEBUG_INFO_BTF",
		Err:    errors.New(strings.Join(reasons, "; ")),
	}
}

// permitted refuses impossible cases early, in plain words.
func permitted() error {
	// The programs see the process ids of the initial namespace. In another one /proc shows
	// other ids, and a stranger's events would count as the target's.
	var stat unix.Stat_t
	if err := unix.Stat("/proc/self/ns/pid", &stat); err == nil && stat.Ino != initialPIDs {
		return &observe.Unsupported{
			What:   "redline is in a PID namespace of its own, so it cannot attribute the kernel's events to processes",
			Enable: "run redline on the host, or its container with --pid=host",
		}
	}
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		return &observe.Unsupported{
			What:   "the kernel provides no type information (BTF), which eBPF programs need",
			Enable: "run a kernel with CONFIG_DEBUG_INFO_BTF; in a container, mount /sys",
			Err:    err,
		}
	}
	return nil
}

// attach attaches all possible programs and returns the others.
func (s *state) attach() (missing []error) {
	// Before Linux 5.11 maps count as locked memory; without the right to raise
	// the limit, creating them says so.
	// cilium/ebpf probes for that and does nothing on later kernels.
	_ = rlimit.RemoveMemlock()
	cache := btf.NewCache() // the kernel's types take tens of MB, so it is not kept
	add := func(load func() (*ebpf.CollectionSpec, error), sets ...set) *object {
		o, failed := open(load, sets, cache)
		missing = append(missing, failed...)
		return o
	}
	// The kernel sends a SYN-ACK again by another function than data.
	tcp := add(loadTcp,
		set{tells: "events of TCP connections", programs: []string{tcpProgInetSockSetState}},
		set{tells: "retransmissions by socket", programs: []string{tcpProgTcpRetransmitSkb, tcpProgTcpRetransmitSynack}})
	if tcp != nil {
		var err error
		if s.tcp, err = newTCPEvents(tcp); err != nil {
			missing = append(missing, err)
		}
	}
	runqueue := add(loadRunqueue, set{
		tells:    "run-queue latency",
		programs: []string{runqueueProgSchedSwitch},
	})
	s.runqueue = newDistribution(runqueue, runqueueMapWaits, runqueueSeries)
	block := add(loadBlock, set{
		tells:    "block-device latency",
		programs: []string{blockProgBlockRqIssue, blockProgBlockRqComplete},
	})
	s.block = newDistribution(block, blockMapRequests, blockSeries...)
	fsync, err := s.attachFsync(add)
	if err != nil {
		missing = append(missing, err)
	}
	s.fsync = newDistribution(fsync, fsyncMapSyncs, fsyncSeries)
	return missing
}

// attachFsync attaches the programs on syncs where there are file systems that
// report: no syncs and unobserved syncs must not look alike.
func (s *state) attachFsync(add func(func() (*ebpf.CollectionSpec, error), ...set) *object) (*object, error) {
	root, err := s.tree.First()
	if err != nil {
		return nil, err
	}
	mountinfo, _, err := root.Read("mountinfo", nil)
	if err != nil {
		return nil, fmt.Errorf("no fsync latency: the target's file systems are not known: %w", err)
	}
	tells, blind := mounted(mountinfo)
	if !tells {
		return nil, fmt.Errorf("no fsync latency: ext4 and f2fs report syncs, %s does not",
			cmp.Or(strings.Join(blind, ", "), "this file system"))
	}
	if len(blind) > 0 {
		s.vitals.Say("syncs on %s are not counted: only ext4 and f2fs report theirs", strings.Join(blind, ", "))
	}
	// A kernel without f2fs has no tracepoints for it, which loses nothing.
	return add(loadFsync,
		set{tells: "fsync latency", programs: []string{fsyncProgExt4SyncFileEnter, fsyncProgExt4SyncFileExit}},
		set{tells: "fsync latency on f2fs", programs: []string{fsyncProgF2fsSyncFileEnter, fsyncProgF2fsSyncFileExit}, optional: true}), nil
}

func (s *state) objects() []*object {
	var all []*object
	if s.tcp != nil {
		all = append(all, s.tcp.object)
	}
	for _, d := range []*distribution{s.runqueue, s.block, s.fsync} {
		if d != nil {
			all = append(all, d.object)
		}
	}
	return all
}

func (s *state) release() {
	for _, o := range s.objects() {
		o.close()
	}
	if s.tcp != nil {
		_ = s.tcp.ring.Close()
	}
	s.tree.Close()
}

// setTargets gives all programs the target's processes.
func (s *state) setTargets() {
	var pids [maxTargets]uint32
	for i, p := range s.tree.Members {
		if i == maxTargets {
			s.vitals.Say("only the first %d of the target's %d processes are followed", maxTargets, len(s.tree.Members))
			break
		}
		pids[i] = uint32(p.PID)
	}
	for _, o := range s.objects() {
		if err := o.setTargets(pids); err != nil {
			s.vitals.Say("%v", err)
		}
	}
}

// Run implements observe.Source.
func (s *Source) Run(ctx context.Context, sink observe.Sink) error {
	st := s.state
	s.state = nil
	defer st.release()
	edges := &observe.Edges{Clock: st.subject.Clock, Width: st.subject.Window}
	err := edges.Each(ctx, func(edge time.Duration) error {
		if len(st.tree.Members) == 0 {
			return nil // the target has ended: zeros would look like an idle one
		}
		st.sample(edge)
		// A full disk is the conductor's to report; the next window may fit.
		_ = st.meter.Flush(sink)
		return nil
	})
	s.vitals.Missed = edges.Missed()
	s.vitals.Finish(st.subject.Clock.Now())
	if st.tcp != nil {
		st.tcp.calibrated(&s.vitals)
	}
	return err
}

func (s *state) sample(edge time.Duration) {
	for _, d := range []*distribution{s.runqueue, s.block, s.fsync} {
		if d != nil {
			d.sample(s, edge)
		}
	}
	if s.tcp != nil {
		s.tcp.sample(s, edge)
	}
	// After the figures, so that the last window of a target that ended counts.
	if !s.tree.Alive() {
		s.vitals.End(s.subject.Clock.Now())
		return
	}
	if edge < s.lookAt {
		return
	}
	// A child is followed up to a second late: to see it at once would take a program on
	// every fork of the machine.
	s.lookAt = edge + seldom
	if s.tree.Look() {
		s.setTargets()
	}
	if s.tcp != nil && len(s.tree.Members) > 0 {
		s.tcp.look(s)
	}
}
