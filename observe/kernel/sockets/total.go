package sockets

// totals are the amounts of all of the target's sockets so far. They never
// fall, however sockets come and go.
type totals struct {
	segments, retransmits uint64
	busy, rwnd, sndbuf    uint64 // us
	path                  uint64 // us busy and limited by neither

	last  map[uint64]amounts // by cookie
	round uint64
}

// amounts are the cumulative figures of one socket.
type amounts struct {
	segments, retransmits uint32
	busy, rwnd, sndbuf    uint64
	round                 uint64
}

// add takes a socket's figures. born tells that it cannot have existed at the
// last round, so that they count from zero; of another new socket only what it
// adds from now on counts. Unsigned differences see through a wrap at 32 bits.
func (t *totals) add(cookie uint64, now amounts, born bool) {
	old, known := t.last[cookie]
	if known || born {
		t.segments += uint64(now.segments - old.segments)
		t.retransmits += uint64(now.retransmits - old.retransmits)
		// The kernel sums up three clocks at slightly different instants, so
		// one may seem to fall by a tick.
		busy, rwnd, sndbuf := rise(old.busy, now.busy), rise(old.rwnd, now.rwnd), rise(old.sndbuf, now.sndbuf)
		t.busy += busy
		t.rwnd += rwnd
		t.sndbuf += sndbuf
		t.path += rise(rwnd+sndbuf, busy)
	}
	if t.last == nil {
		t.last = map[uint64]amounts{}
	}
	now.round = t.round
	t.last[cookie] = now
}

// next ends a round: sockets that were not added in it are forgotten.
func (t *totals) next() {
	for cookie, a := range t.last {
		if a.round != t.round {
			delete(t.last, cookie)
		}
	}
	t.round++
}

func rise(from, to uint64) uint64 {
	if to < from {
		return 0
	}
	return to - from
}
