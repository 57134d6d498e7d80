package shed_test

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/redline-go/redline/kit/shed"
)

// service is a queue in front of servers, under synctest's clock.
type service struct {
	servers chan struct{}
	mu      sync.Mutex
	mean    time.Duration // of the service time, which is exponential
	extra   time.Duration // waited without a server, as for a reply
	random  *rand.Rand
}

func newService(servers int, mean time.Duration) *service {
	return &service{servers: make(chan struct{}, servers), mean: mean, random: rand.New(rand.NewPCG(1, 2))}
}

func (s *service) set(mean, extra time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mean, s.extra = mean, extra
}

// draw returns how long a request takes. It is called in the order of arrival, so that
// the order in which goroutines run changes nothing.
func (s *service) draw() (work, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Duration(s.random.ExpFloat64() * float64(s.mean)), s.extra
}

func (s *service) serve(work, wait time.Duration) {
	s.servers <- struct{}{}
	time.Sleep(work)
	<-s.servers
	time.Sleep(wait)
}

// second is what happened to the requests that ended in one second.
type second struct {
	offered, served, shed int
	latency               time.Duration // mean of those served
	limit                 int
}

// drive offers requests at random times, rate per second on average, and reports by
// second. Before each second it calls step.
func drive(l *shed.Limiter, s *service, seconds int, rate float64, step func(second int)) []second {
	random := rand.New(rand.NewPCG(3, 4))
	var mu sync.Mutex
	all := make([]second, seconds)
	begun := time.Now()
	now := func() int { return min(seconds-1, int(time.Since(begun)/time.Second)) }
	var requests sync.WaitGroup
	last := -1
	for time.Since(begun) < time.Duration(seconds)*time.Second {
		if n := now(); n != last {
			last = n
			if step != nil {
				step(n)
			}
			all[n].limit = l.Stats().Limit
		}
		mu.Lock()
		all[now()].offered++
		mu.Unlock()
		permit, err := l.Acquire()
		if err != nil {
			mu.Lock()
			all[now()].shed++
			mu.Unlock()
		} else {
			start := time.Now()
			work, wait := s.draw()
			requests.Go(func() {
				s.serve(work, wait)
				permit.Done()
				mu.Lock()
				defer mu.Unlock()
				n := now()
				all[n].served++
				all[n].latency += time.Since(start)
			})
		}
		time.Sleep(time.Duration(random.ExpFloat64() * float64(time.Second) / rate))
	}
	requests.Wait()
	for i := range all {
		if all[i].served > 0 {
			all[i].latency /= time.Duration(all[i].served)
		}
	}
	return all
}

// sum adds up the seconds from and below to.
func sum(all []second, from, to int) (total second) {
	for _, s := range all[from:to] {
		total.offered += s.offered
		total.served += s.served
		total.shed += s.shed
		total.latency += s.latency * time.Duration(s.served)
	}
	if total.served > 0 {
		total.latency /= time.Duration(total.served)
	}
	return total
}
