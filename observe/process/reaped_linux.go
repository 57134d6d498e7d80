package process

// reaped is the CPU time of processes of the tree that came and went between two looks,
// such as those that a service starts for a request. The kernel adds the time of a child
// to its parent's when the parent waits for it (cutime and cstime of proc_pid_stat(5)), so
// none is missed, however short. A child whose parent ignores SIGCHLD, or ended
// before it, is not added to any other process.
type reaped struct {
	waited tally  // ticks that the members' waits added
	known  uint64 // ticks of these that were counted while the child was a member
	most   uint64
}

// add takes a member's stat.
func (r *reaped) add(m *member, st stat) {
	r.waited.add(m.pid, st.reaped, false)
	m.parent, m.last = st.parent, st.user+st.system+st.reaped
	if !m.looked {
		m.looked, m.first = true, m.last
	}
}

// end leaves out the counts of a member, because its parent is about to count it again.
func (r *reaped) end(m *member, members []*member) {
	for _, parent := range members {
		if parent.pid == m.parent && parent != m {
			r.known += m.last - m.first
			return
		}
	}
}

// ticks returns the sum so far. It stands still while a member has ended for which its
// parent has not waited yet, and never falls.
func (r *reaped) ticks() uint64 {
	if r.waited.total > r.known {
		r.most = max(r.most, r.waited.total-r.known)
	}
	return r.most
}
