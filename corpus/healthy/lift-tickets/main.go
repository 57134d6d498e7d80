// Command lift-tickets checks ski passes. Prices expire, yet are renewed in the background
// while the old ones are served; a limiter stands before the gate, and its limit is never
// reached; the displays of hundreds of gates wait, as they should, for news.
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
	"golang.org/x/time/rate"
)

type prices struct {
	day, half int
	until     time.Time
}

type office struct {
	source string
	now    atomic.Pointer[prices]
	renew  singleflight.Group
	pace   *rate.Limiter
	news   *sync.Cond
	sold   atomic.Int64
}

func (o *office) load() (any, error) {
	resp, err := http.Get(o.source)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return nil, err
	}
	o.now.Store(&prices{day: 7200, half: 4800, until: time.Now().Add(400 * time.Millisecond)})
	o.news.Broadcast()
	return nil, nil
}

func (o *office) current() *prices {
	p := o.now.Load()
	if time.Now().After(p.until) {
		o.renew.DoChan("prices", o.load)
	}
	return p
}

// display shows prices at a gate whenever they change.
func (o *office) display(shown *atomic.Int64) {
	o.news.L.Lock()
	defer o.news.L.Unlock()
	for {
		o.news.Wait()
		shown.Add(1)
	}
}

func (o *office) check(w http.ResponseWriter, r *http.Request) {
	if err := o.pace.Wait(r.Context()); err != nil {
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return
	}
	pass, err := strconv.Atoi(r.PathValue("pass"))
	if err != nil {
		http.Error(w, "pass", http.StatusBadRequest)
		return
	}
	p := o.current()
	_ = json.NewEncoder(w).Encode(map[string]any{"pass": pass, "ok": pass%13 != 0, "day": p.day, "half": p.half, "sold": o.sold.Add(1)})
}

func main() {
	o := &office{
		source: os.Getenv("BACKEND_URL") + "/prices",
		pace:   rate.NewLimiter(20000, 500),
		news:   sync.NewCond(new(sync.Mutex)),
	}
	if _, err := o.load(); err != nil {
		log.Fatal(err)
	}
	var shown atomic.Int64
	for range 300 {
		go o.display(&shown)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /passes/{pass}", o.check)
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9885", mux))
}
