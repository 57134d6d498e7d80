// Command flags-publisher decides feature flags. A publisher
// takes the write lock for as long as its rules take to fetch,
// six times a second, and every decision waits behind it.
package main

import (
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/julienschmidt/httprouter"
)

type rule struct{ percent uint32 }

type publisher struct {
	guard  *sync.RWMutex
	rules  map[string]rule
	source string
	client http.Client
}

func (p *publisher) decide(flag, user string) bool {
	p.guard.RLock()
	defer p.guard.RUnlock()
	var h uint32
	for _, c := range []byte(flag + user) {
		h = h*31 + uint32(c)
	}
	return h%100 < p.rules[flag].percent
}

func (p *publisher) renew(ctx context.Context) error {
	p.guard.Lock()
	defer p.guard.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.source+"/rules", nil)
	if err != nil {
		return err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	for name, r := range p.rules {
		r.percent = (r.percent + 1) % 100
		p.rules[name] = r
	}
	return nil
}

func main() {
	p := &publisher{guard: new(sync.RWMutex), rules: map[string]rule{"checkout": {20}, "dark": {70}}, source: os.Getenv("BACKEND_URL")}
	go func() {
		pause := time.NewTicker(160 * time.Millisecond)
		for range pause.C {
			if err := p.renew(context.Background()); err != nil {
				log.Print(err)
			}
		}
	}()
	r := httprouter.New()
	r.GET("/flags/:flag/:user", func(w http.ResponseWriter, _ *http.Request, ps httprouter.Params) {
		if p.decide(ps.ByName("flag"), ps.ByName("user")) {
			_, _ = io.WriteString(w, "on")
			return
		}
		_, _ = io.WriteString(w, "off")
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9405", r))
}
