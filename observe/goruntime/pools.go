package goruntime

import "github.com/redline-go/redline/record"

// totals adds up the gauges of a target's connection pools in one window: who
// asks how many connections there are does not care which pool has them.
type totals struct {
	pools                int
	inUse, idle, most    float64
	knowsIdle, boundless bool
}

func (t *totals) add(name string, value float64) {
	switch name {
	case record.PoolInUse:
		t.pools++
		t.inUse += value
	case record.PoolIdle:
		t.knowsIdle = true
		t.idle += value
	case record.PoolMax:
		t.most += value
		t.boundless = t.boundless || value == 0
	}
}

// points appends the totals to list, none without a pool.
func (t *totals) points(list []record.Point, window int64) []record.Point {
	if t.pools == 0 {
		return list
	}
	put := func(name string, value float64) {
		list = append(list, record.Point{Window: window, Series: record.Series{Name: name, Unit: "1"}, Value: value})
	}
	if t.boundless {
		t.most = 0
	}
	put(record.PoolInUse, t.inUse)
	put(record.PoolMax, t.most)
	if t.knowsIdle {
		put(record.PoolIdle, t.idle)
	}
	return list
}
