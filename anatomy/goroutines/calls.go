package goroutines

import (
	"math/bits"
	"time"

	"github.com/redline-go/redline/anatomy/interned"
)

// maxCallSites bounds the call sites whose system calls are kept separately; calls from others
// count with their own duration.
const maxCallSites = 16

// Calls are the system calls of goroutines that requests wait for, by the stack that made them.
type Calls struct {
	sites map[interned.Stack]*durations
	other time.Duration
}

// durations are those of calls from one place, in buckets of half an octave.
type durations struct {
	n   [128]int
	sum [128]time.Duration
}

// bucket returns the bucket of a duration: twice its binary logarithm, rounded down to half
// an octave by the bit after the leading one.
func bucket(d time.Duration) int {
	ns := uint64(max(1, d))
	octave := bits.Len64(ns) - 1
	half := 0
	if octave > 0 {
		half = int(ns>>(octave-1)) & 1
	}
	return 2*octave + half
}

// callsOf returns the calls of the goroutines that began in a function. They share one table: a
// thousand workers would otherwise take a thousand.
func (all *Set) callsOf(entry interned.Name) *Calls {
	c := all.calls[entry]
	if c == nil {
		if all.calls == nil {
			all.calls = map[interned.Name]*Calls{}
		}
		c = &Calls{}
		all.calls[entry] = c
	}
	return c
}

func (c *Calls) at(stack interned.Stack) *durations {
	d := c.sites[stack]
	if d == nil && len(c.sites) < maxCallSites {
		if c.sites == nil {
			c.sites = map[interned.Stack]*durations{}
		}
		d = &durations{}
		c.sites[stack] = d
	}
	return d
}

func (c *Calls) add(stack interned.Stack, took time.Duration) {
	d := c.at(stack)
	if d == nil {
		c.other += took
		return
	}
	b := bucket(took)
	d.n[b]++
	d.sum[b] += took
}

// Merge adds the calls of another goroutine, or of another trace. Stacks have one number over
// all traces.
func (c *Calls) Merge(o *Calls) {
	c.other += o.other
	for stack, from := range o.sites {
		d := c.at(stack)
		for b, n := range from.n {
			if d == nil {
				c.other += from.sum[b]
				continue
			}
			d.n[b] += n
			d.sum[b] += from.sum[b]
		}
	}
}

// Took returns how long all calls took.
func (c *Calls) Took() time.Duration {
	sum := c.other
	for _, d := range c.sites {
		for _, s := range d.sum {
			sum += s
		}
	}
	return sum
}

// quick is the share of a site's calls that is assumed to be undelayed: one in so many.
const quick = 10

// Alone returns how long all calls would have taken if each had been as fast as the quickest
// tenth of those from the same site. On CPUs that are used up a blocking call lasts much longer
// than its work: its thread waits for a CPU once the disk is done, and so did the kernel's
// threads that worked for it.
func (c *Calls) Alone() time.Duration {
	sum := c.other
	for _, d := range c.sites {
		sum += d.alone()
	}
	return sum
}

func (d *durations) alone() (sum time.Duration) {
	all := 0
	for _, n := range d.n {
		all += n
	}
	seen, least := 0, time.Duration(-1)
	for b, n := range d.n {
		if seen += n; least < 0 && quick*seen >= all && n > 0 {
			least = d.sum[b] / time.Duration(n)
		}
		if least < 0 {
			sum += d.sum[b]
		} else {
			sum += time.Duration(n) * min(least, d.sum[b]/time.Duration(max(1, n)))
		}
	}
	return sum
}
