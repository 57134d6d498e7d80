package process

import "time"

// ratioSpan is how far back the ratio of user to system time is taken. utime
// and stime count ticks of 10 ms, so that within one window of 100 ms they say
// little; over a second they are accurate to a percent of a CPU.
const ratioSpan = time.Second

// ratio divides CPU time into user and system.
type ratio struct {
	user, system float64 // ns so far
	total        uint64
	based        bool
	ticks        []ticked // oldest first, the first one older than ratioSpan if there is one
	share        float64  // of user, last known
}

// ticked is a reading of utime and stime, in ticks of 10 ms (USER_HZ).
type ticked struct {
	at           time.Duration
	user, system uint64
}

// add takes the CPU time so far, in ns, and the ticks so far.
func (r *ratio) add(at time.Duration, total, user, system uint64) {
	if !r.based {
		r.based, r.total, r.share = true, total, 1
		if user+system > 0 {
			r.share = float64(user) / float64(user+system)
		}
	}
	r.ticks = append(r.ticks, ticked{at, user, system})
	for len(r.ticks) > 2 && at-r.ticks[1].at >= ratioSpan {
		r.ticks = append(r.ticks[:0], r.ticks[1:]...)
	}
	first := r.ticks[0]
	if spent := user - first.user + system - first.system; user >= first.user && system >= first.system && spent > 0 {
		r.share = float64(user-first.user) / float64(spent)
	}
	if total > r.total {
		r.user += float64(total-r.total) * r.share
		r.system += float64(total-r.total) * (1 - r.share)
	}
	r.total = total
}
