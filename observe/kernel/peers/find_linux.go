package peers

import (
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/redline-go/redline/notation/inert"
	"github.com/redline-go/redline/observe"
	"github.com/redline-go/redline/observe/kernel/sockets"
	"github.com/redline-go/redline/observe/kernel/tree"
	"github.com/redline-go/redline/observe/pseudofile"
	"github.com/redline-go/redline/record/series"
)

const (
	// maxPeers bounds the processes that are read, and maxSeries the pairs of program and
	// port that are recorded apart.
	maxPeers  = 256
	maxSeries = 16
	// maxDescriptors bounds the listing of one process.
	maxDescriptors = 1 << 17
)

// beyond labels the peers of further programs and ports.
var beyond = series.Labels("program", "other", "port", "0")

// peer is a process that the target asks.
type peer struct {
	*tree.Process
	labels string
	last   time.Duration // CPU time as last read
	based  bool          // last is set
}

// cpu returns the CPU time that the process has used; alive is false if it ended: then the
// figure may be that of a process which got its pid.
func (p *peer) cpu() (used time.Duration, alive bool) {
	used, err := observe.CPUTime(p.PID)
	if err != nil {
		return 0, false
	}
	_, err = p.Inode("stat")
	return used, err == nil
}

// finder finds the owners of sockets. The zero finder is ready.
type finder struct {
	peers  []*peer
	labels map[string]bool
	full   bool
	spent  time.Duration // CPU of listing all processes so far
	late   bool          // that was put off
	// refused are the ends whose process was not found at the last look: they cause no listing of
	// all processes again.
	refused map[uint32]bool
	// unseen is the number of ends whose process was found neither at the last look nor at the one before:
	// one may just have been closed. hidden are the ports of all such ends.
	unseen int
	hidden map[uint16]bool
}

// release closes the directories of all peers.
func (f *finder) release() {
	for _, p := range f.peers {
		p.Close()
	}
	f.peers = nil
}

// find drops peers that ended, and adds the owners of ends. Those of redline and of the target
// are known, and no peers. All processes are listed only if may is set; cost is the CPU that this took.
func (f *finder) find(target *tree.Tree, ends []sockets.End, may bool) (cost time.Duration) {
	f.peers = slices.DeleteFunc(f.peers, func(p *peer) bool {
		_, alive := p.cpu()
		if !alive {
			p.Close()
		}
		return !alive
	})
	wanted := map[uint32]uint16{}
	for _, e := range ends {
		if e.Inode != 0 { // else nobody accepted it yet
			wanted[e.Inode] = e.Port
		}
	}
	seen := map[uint32]bool{}
	known := map[int]bool{}
	for _, p := range f.peers {
		known[p.PID] = true
		_, _ = owns(p.Process, wanted, seen)
	}
	if f.anyNew(wanted, seen) {
		if !may {
			f.late = true
			return 0
		}
		before := sockets.ThreadCPU()
		f.list(target, wanted, seen, known)
		cost = sockets.ThreadCPU() - before
		f.spent += cost
	}
	f.account(wanted, seen)
	return cost
}

// anyNew reports whether an end has no known owner, and was not looked for before.
func (f *finder) anyNew(wanted map[uint32]uint16, seen map[uint32]bool) bool {
	for inode := range wanted {
		if !seen[inode] && !f.refused[inode] {
			return true
		}
	}
	return false
}

// list looks through the descriptors of all processes that are not known. Those of other
// users cannot be listed.
func (f *finder) list(target *tree.Tree, wanted map[uint32]uint16, seen map[uint32]bool, known map[int]bool) {
	own := map[int]bool{os.Getpid(): true}
	for _, p := range target.Members {
		own[p.PID] = true
	}
	pids, _ := pseudofile.Numbered("/proc") // a part is better than none
	for _, pid := range pids {
		if known[pid] {
			continue
		}
		p, err := tree.Hold("/proc", pid)
		if err != nil {
			continue // it ended
		}
		port, owner := owns(p, wanted, seen)
		if !owner || own[pid] || !f.add(p, port) {
			p.Close()
		}
	}
}

// owns marks the wanted sockets that a process holds as seen, and returns the lowest port of these.
func owns(p *tree.Process, wanted map[uint32]uint16, seen map[uint32]bool) (port uint16, owner bool) {
	_, _ = p.Links("fd", maxDescriptors, func(link []byte) { // what cannot be listed is not seen
		inode, ok := sockets.Inode(link)
		if !ok {
			return
		}
		if at, here := wanted[inode]; here {
			seen[inode] = true
			if !owner || at < port {
				port, owner = at, true
			}
		}
	})
	return port, owner
}

// add makes a process a peer, unless there are too many.
func (f *finder) add(p *tree.Process, port uint16) bool {
	if len(f.peers) >= maxPeers {
		f.full = true
		return false
	}
	comm, _, err := p.Read("comm", nil)
	if err != nil {
		return false // it ended
	}
	labels := series.Labels("program", program(comm), "port", strconv.Itoa(int(port)))
	if !f.labels[labels] && len(f.labels) >= maxSeries {
		labels = beyond
	}
	if f.labels == nil {
		f.labels = map[string]bool{}
	}
	f.labels[labels] = true
	f.peers = append(f.peers, &peer{Process: p, labels: labels})
	return true
}

// program makes a name of /proc/PID/comm, which a process chooses freely (proc_pid_comm(5)).
func program(comm []byte) string {
	return inert.Text(string(comm))
}

// account counts the ends whose owner was not found.
func (f *finder) account(wanted map[uint32]uint16, seen map[uint32]bool) {
	if f.hidden == nil {
		f.hidden = map[uint16]bool{}
	}
	refused := map[uint32]bool{}
	f.unseen = 0
	for inode, port := range wanted {
		if seen[inode] {
			continue
		}
		refused[inode] = true
		if !f.refused[inode] {
			continue
		}
		f.unseen++
		if len(f.hidden) < maxSeries {
			f.hidden[port] = true
		}
	}
	f.refused = refused
}
