// Package overload simulates a service behind a limiter, under the clock of
// testing/synctest: requests come at random times, whatever the service does, and
// wait in line for its servers. What happens follows from the seeds alone.
package overload

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Service is a line in front of servers. Use NewService.
type Service struct {
	// Servers has one slot per server. Putting something into a slot stops a server.
	Servers chan struct{}

	mu         sync.Mutex
	work, wait time.Duration
	random     *rand.Rand
}

// NewService returns a service whose requests need a server for work on average,
// exponentially distributed.
func NewService(servers int, work time.Duration) *Service {
	return &Service{Servers: make(chan struct{}, servers), work: work, random: rand.New(rand.NewPCG(1, 2))}
}

// Set changes how long requests need a server on average, and how long they then wait without
// one, as for a reply.
func (s *Service) Set(work, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work, s.wait = work, wait
}

// draw returns how long a request takes. It is called in order of arrival, so that the
// order in which goroutines run does not matter.
func (s *Service) draw() (work, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.random.ExpFloat64() * float64(s.work)), s.wait
}

func (s *Service) serve(work, wait time.Duration) {
	s.Servers <- struct{}{}
	time.Sleep(work)
	<-s.Servers
	time.Sleep(wait)
}

// Limiter is what admits requests. A nil done turns one away; otherwise it is called
// when the request has been served.
type Limiter interface {
	Admit() (done func())
	Limit() int
}

// Second is what happened in one second.
type Second struct {
	Offered, Served, Shed int
	Latency               time.Duration // mean of those that ended
	Limit                 int           // as it began
}

// Drive offers requests for some seconds, rate per second on average, and waits for
// those admitted. Before each second it calls step, unless that is nil.
func Drive(l Limiter, s *Service, seconds int, rate float64, step func(second int)) []Second {
	random := rand.New(rand.NewPCG(3, 4))
	var mu sync.Mutex // guards all
	all := make([]Second, seconds)
	begun := time.Now()
	now := func() int { return min(seconds-1, int(time.Since(begun)/time.Second)) }
	var requests sync.WaitGroup
	for last := -1; time.Since(begun) < time.Duration(seconds)*time.Second; {
		n := now()
		if n != last {
			last = n
			if step != nil {
				step(n)
			}
			all[n].Limit = l.Limit()
		}
		done := l.Admit()
		mu.Lock()
		all[n].Offered++
		if done == nil {
			all[n].Shed++
		}
		mu.Unlock()
		if done != nil {
			start := time.Now()
			work, wait := s.draw()
			requests.Go(func() {
				s.serve(work, wait)
				done()
				mu.Lock()
				defer mu.Unlock()
				n := now()
				all[n].Served++
				all[n].Latency += time.Since(start)
			})
		}
		time.Sleep(time.Duration(random.ExpFloat64() * float64(time.Second) / rate))
	}
	requests.Wait()
	for i := range all {
		if all[i].Served > 0 {
			all[i].Latency /= time.Duration(all[i].Served)
		}
	}
	return all
}

// Sum adds up the seconds from and below to.
func Sum(all []Second, from, to int) (total Second) {
	for _, s := range all[from:to] {
		total.Offered += s.Offered
		total.Served += s.Served
		total.Shed += s.Shed
		total.Latency += s.Latency * time.Duration(s.Served)
	}
	if total.Served > 0 {
		total.Latency /= time.Duration(total.Served)
	}
	return total
}

// Goodput is what was served per second, as a share of the capacity.
func Goodput(all []Second, from, to int, capacity float64) float64 {
	return float64(Sum(all, from, to).Served) / float64(to-from) / capacity
}
