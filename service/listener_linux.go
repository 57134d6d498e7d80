package service

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/prometheus/procfs" // /proc/net/tcp and /proc/<pid>/fd, parsed
)

// tcpListen is TCP_LISTEN of the kernel's include/net/tcp_states.h.
const tcpListen = 10

// listeningProcess finds the process that holds a listening TCP socket on port at one of some
// addresses, or at all of them, by the socket's inode (/proc/net/tcp, see proc(5)).
func listeningProcess(at []net.IP, port string, prefer int) (int, error) {
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return 0, fmt.Errorf("port %q: %w", port, err)
	}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, err
	}
	inodes := map[string]bool{}
	//lint:ignore SA1019 read once per start: netlink, which would scale better, is a dependency more
	for _, read := range []func() (procfs.NetTCP, error){fs.NetTCP, fs.NetTCP6} {
		lines, err := read()
		if err != nil {
			continue // a kernel without IPv6 has no tcp6
		}
		for _, l := range lines {
			if l.St == tcpListen && l.LocalPort == number && (l.LocalAddr.IsUnspecified() || slices.ContainsFunc(at, l.LocalAddr.Equal)) {
				inodes[fmt.Sprintf("socket:[%d]", l.Inode)] = true
			}
		}
	}
	if len(inodes) == 0 {
		return 0, fmt.Errorf("nothing listens on port %s", port)
	}
	return holder(fs, inodes, prefer)
}

func holder(fs procfs.FS, sockets map[string]bool, prefer int) (int, error) {
	procs, err := fs.AllProcs()
	if err != nil {
		return 0, err
	}
	var holders []int
	parents := map[int]int{}
	for _, p := range procs {
		if stat, err := p.Stat(); err == nil {
			parents[p.PID] = stat.PPID
		}
		targets, err := p.FileDescriptorTargets()
		if err != nil {
			continue // gone, or another user's
		}
		if slices.ContainsFunc(targets, func(t string) bool { return sockets[t] }) {
			holders = append(holders, p.PID)
		}
	}
	if len(holders) == 0 {
		return 0, fmt.Errorf("the listening process is not visible (hint: run redline as its user, or as root)")
	}
	// The closest below the one that we started: others share the port by SO_REUSEPORT, or inherited the socket.
	best, distance := holders[0], len(parents)+1
	for _, pid := range holders {
		for up, p := 0, pid; p > 1 && up < distance; up, p = up+1, parents[p] {
			if p == prefer {
				best, distance = pid, up
			}
		}
	}
	return best, nil
}

// listens returns the TCP addresses at which a process and those that it started listen.
func listens(pid int) (at []net.TCPAddr, err error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	held, err := sockets(fs, pid)
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 read once per start: netlink, which would scale better, is a dependency more
	for _, read := range []func() (procfs.NetTCP, error){fs.NetTCP, fs.NetTCP6} {
		lines, err := read()
		if err != nil {
			continue // a kernel without IPv6 has no tcp6
		}
		for _, l := range lines {
			if l.St == tcpListen && held[fmt.Sprintf("socket:[%d]", l.Inode)] {
				at = append(at, net.TCPAddr{IP: l.LocalAddr, Port: int(l.LocalPort)})
			}
		}
	}
	return at, nil
}

// sockets returns the sockets of a process and its descendants, by the names of their
// descriptors.
func sockets(fs procfs.FS, pid int) (map[string]bool, error) {
	procs, err := fs.AllProcs()
	if err != nil {
		return nil, err
	}
	children := map[int][]procfs.Proc{}
	held := map[string]bool{}
	for _, p := range procs {
		if stat, err := p.Stat(); err == nil { // else gone
			children[stat.PPID] = append(children[stat.PPID], p)
		}
	}
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		p, err := fs.Proc(next[0])
		if err != nil {
			continue
		}
		if names, err := p.FileDescriptorTargets(); err == nil {
			for _, name := range names {
				held[name] = true
			}
		}
		for _, child := range children[next[0]] {
			next = append(next, child.PID)
		}
	}
	return held, nil
}
