package process

// tally sums a cumulative figure over members that come and go (threads of a
// process, processes of a tree), so that the sum never falls when one ends.
type tally struct {
	total uint64
	last  map[int]entry
	round uint64
}

// entry is a counter's last value and the round in which it was seen.
type entry struct{ value, round uint64 }

// add takes a member's figure. born means that the member cannot have existed
// at the last round, so that its figure counts from zero; of another new member
// only its growth from now on counts. A figure that falls is a new member's
// under a used id.
func (t *tally) add(id int, value uint64, born bool) {
	old, known := t.last[id]
	switch {
	case known && value >= old.value:
		t.total += value - old.value
	case known || born:
		t.total += value
	}
	if t.last == nil {
		t.last = map[int]entry{}
	}
	t.last[id] = entry{value, t.round}
}

// next ends a round: members that were not added in it are forgotten.
func (t *tally) next() {
	for id, e := range t.last {
		if e.round != t.round {
			delete(t.last, id)
		}
	}
	t.round++
}
