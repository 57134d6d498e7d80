// Command terminal-leases pays through a few payment terminals. They are leased
// from a pool of three made of a mutex and a condition, though the acquirer
// behind them takes any number of calls.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"sync"
)

type terminal struct {
	serial int
	client *http.Client
}

type leases struct {
	mu    sync.Mutex
	freed *sync.Cond
	free  []*terminal
}

func newLeases(n int) *leases {
	l := &leases{}
	l.freed = sync.NewCond(&l.mu)
	for i := range n {
		l.free = append(l.free, &terminal{i, &http.Client{}})
	}
	return l
}

func (l *leases) obtain() *terminal {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.free) == 0 {
		l.freed.Wait()
	}
	t := l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	return t
}

func (l *leases) back(t *terminal) {
	l.mu.Lock()
	l.free = append(l.free, t)
	l.mu.Unlock()
	l.freed.Signal()
}

type payments struct {
	*leases
	acquirer string
}

func (p payments) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		return
	}
	t := p.obtain()
	defer p.back(t)
	res, err := t.client.Get(p.acquirer + "/authorise?amount=" + r.URL.Query().Get("amount"))
	if err != nil {
		http.Error(w, "acquirer is away", http.StatusBadGateway)
		return
	}
	defer res.Body.Close()
	_, _ = io.Copy(w, res.Body)
}

func main() {
	log.Fatal(http.ListenAndServe("127.0.0.1:9409", payments{newLeases(3), os.Getenv("BACKEND_URL")}))
}
