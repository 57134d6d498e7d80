package tree

import (
	"fmt"
	"os"
	"strconv"

	"github.com/redline-go/redline/observe"
)

// maxMembers bounds the processes that are followed.
const maxMembers = 64

// Tree is the target: its root process and its descendants. It is not safe for
// concurrent use.
type Tree struct {
	// Members are the living processes, parents before children.
	Members []*Process
	// Full is set if there are more processes than are followed.
	Full bool

	proc      string
	pid       int          // of the root
	strangers map[int]bool // processes that are no members, at the last look
	buf       []byte
}

// Open holds the process pid and its descendants. root is prefixed to /proc,
// for tests on recorded trees. An error is an *observe.Unsupported.
func Open(root string, pid int) (*Tree, error) {
	if pid <= 0 {
		return nil, observe.Unseen(root+"/proc", 0, nil)
	}
	t := &Tree{proc: root + "/proc", pid: pid, buf: make([]byte, 4<<10)}
	p, err := Hold(t.proc, pid)
	if err != nil {
		return nil, observe.Unseen(t.proc, pid, err)
	}
	t.Members = []*Process{p}
	t.Look()
	if _, err := t.First(); err != nil {
		return nil, err
	}
	return t, nil
}

// First returns the first member. The error is an *observe.Unsupported: the target may end at any time.
func (t *Tree) First() (*Process, error) {
	if len(t.Members) == 0 {
		return nil, &observe.Unsupported{What: fmt.Sprintf("process %d has ended", t.pid), Enable: "name a process that runs"}
	}
	return t.Members[0], nil
}

// Close closes the directories of all members.
func (t *Tree) Close() {
	for _, p := range t.Members {
		p.Close()
	}
	t.Members = nil
}

// Look drops members that ended and adds new descendants; it reports whether Members
// changed. It lists /proc, so call it at most once per second. A process that is not a
// descendant when first seen does not become one.
func (t *Tree) Look() (changed bool) {
	living := t.Members[:0]
	for _, p := range t.Members {
		if t.alive(p) {
			living = append(living, p)
		} else {
			p.Close()
			changed = true
		}
	}
	if t.Members = living; len(living) == 0 {
		return changed
	}
	return t.adopt() || changed
}

// Alive reports whether a member lives, and drops those before it that do not:
// First is then a living process.
func (t *Tree) Alive() bool {
	for len(t.Members) > 0 && !t.alive(t.Members[0]) {
		t.Members[0].Close()
		t.Members = t.Members[1:]
	}
	return len(t.Members) > 0
}

// alive reports whether the process that was found still lives: through its pidfd if
// the kernel has them (5.3), else by its stat file.
func (t *Tree) alive(p *Process) bool {
	if ended, known := p.ended(); known {
		return !ended
	}
	text, _, err := p.Read("stat", t.buf)
	if err != nil {
		return false
	}
	t.buf = text
	_, ok := parent(text)
	return ok
}

// adopt adds the descendants that are not members yet.
func (t *Tree) adopt() (changed bool) {
	followed, strangers := map[int]bool{}, map[int]bool{}
	for _, p := range t.Members {
		followed[p.PID] = true
	}
	parents := map[int]int{} // of processes that were not seen before
	for _, pid := range numbered(t.proc) {
		if strangers[pid] = t.strangers[pid]; strangers[pid] || followed[pid] {
			continue
		}
		text, err := os.ReadFile(t.proc + "/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			continue // ended since it was listed
		}
		if from, ok := parent(text); ok {
			parents[pid] = from
		}
	}
	for found := true; found; { // once per generation
		found = false
		for pid, from := range parents {
			if !followed[from] {
				continue
			}
			delete(parents, pid)
			if t.Full = len(t.Members) >= maxMembers; t.Full {
				continue
			}
			if p, err := Hold(t.proc, pid); err == nil {
				t.Members = append(t.Members, p)
				followed[pid], found, changed = true, true, true
			}
		}
	}
	for pid := range parents {
		strangers[pid] = true
	}
	t.strangers = strangers
	return changed
}

// numbered returns the entries of a directory that are numbers.
func numbered(dir string) []int {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1) // a part is better than none
	ids := make([]int, 0, len(names))
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil && id > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}
