package sampler

import (
	"github.com/redline-go/redline/probe/ring"
	"github.com/redline-go/redline/probe/slots"
)

// poolColumns are the figures of one pool, under redline's own names, because the
// runtime has none for them.
var poolColumns = [...]ring.Column{
	{Name: "pool.in_use", Kind: ring.Gauge, Unit: ring.One},
	{Name: "pool.idle", Kind: ring.Gauge, Unit: ring.One},
	{Name: "pool.max_open", Kind: ring.Gauge, Unit: ring.One},
	{Name: "pool.acquires", Kind: ring.Cumulative, Unit: ring.One},
	{Name: "pool.waits", Kind: ring.Cumulative, Unit: ring.One},
	{Name: "pool.wait_time", Kind: ring.Cumulative, Unit: ring.Nanoseconds},
	{Name: "pool.closed", Kind: ring.Cumulative, Unit: ring.One},
}

// pools reads the pools that the program shows.
type pools struct {
	first   int // index of the first value
	entries [slots.Max]slots.Entry
	figures slots.Figures // reused, because a value whose pointer a function gets moves to the heap
}

func (p *pools) columns() []ring.Column {
	var list []ring.Column
	for i := 0; i < slots.Max; i++ {
		for _, c := range poolColumns {
			c.Labels, c.Named = "pool", i+1
			list = append(list, c)
		}
	}
	return list
}

// read reads each pool. It runs the program's code, and therefore outside the
// bracket of the sample: a pool whose lock is contended delays the sample, but does
// not blur its time.
func (p *pools) read(values []float64) {
	slots.Copy(&p.entries)
	for i := range p.entries {
		p.figures = slots.Unknown()
		if e := &p.entries[i]; e.Read != nil && !p.ask(e.Read) {
			slots.Remove(i, e.Turn)
			p.figures = slots.Unknown()
		}
		f, at := &p.figures, values[p.first+i*len(poolColumns):]
		at[0], at[1], at[2] = f.InUse, f.Idle, f.Most
		at[3], at[4], at[5], at[6] = f.Acquires, f.Waits, f.WaitTime, f.Closed
	}
}

// ask calls read and reports whether it returned: one that panics is not called
// again.
func (p *pools) ask(read func(*slots.Figures)) (ok bool) {
	defer func() { ok = recover() == nil }()
	read(&p.figures)
	return true
}

// names writes to the ring the names of the pools that it holds figures of.
func (p *pools) names(w *ring.Writer) {
	for i := range p.entries {
		if p.entries[i].Name != "" {
			_ = w.Name(i, p.entries[i].Name) // fails as the sample's Write does, which reports it
		}
	}
}
