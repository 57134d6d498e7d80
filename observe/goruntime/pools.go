package goruntime

import "github.com/redline-go/redline/record/series"

// totals adds up the gauges of a target's connection pools in one window: for the
// number of connections it does not matter which pool has them.
type totals struct {
	pools                int
	inUse, idle, most    float64
	knowsIdle, boundless bool
}

// add adds a gauge of one pool. A single pool without a bound makes the sum
// unbounded, which the series shows as 0.
func (t *totals) add(name string, value float64) {
	switch name {
	case series.PoolInUse:
		t.pools++
		t.inUse += value
	case series.PoolIdle:
		t.knowsIdle = true
		t.idle += value
	case series.PoolMax:
		t.most += value
		t.boundless = t.boundless || value == 0
	}
}

// points appends the totals to list; none if there is no pool.
func (t *totals) points(list []series.Point, window int64) []series.Point {
	if t.pools == 0 {
		return list
	}
	put := func(name string, value float64) {
		list = append(list, series.Point{Window: window, Series: series.Series{Name: name, Unit: "1"}, Value: value})
	}
	if t.boundless {
		t.most = 0
	}
	put(series.PoolInUse, t.inUse)
	put(series.PoolMax, t.most)
	if t.knowsIdle {
		put(series.PoolIdle, t.idle)
	}
	return list
}
