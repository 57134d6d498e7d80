// Command sms-outbox accepts text messages. A token bucket meant to protect the
// carrier is awaited while the client waits, not by the worker that sends.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/julienschmidt/httprouter"
	"github.com/sirupsen/logrus"
	"golang.org/x/time/rate"
)

type message struct {
	To   string    `json:"to"`
	Text string    `json:"text"`
	When time.Time `json:"when"`
}

type outbox struct {
	mu    sync.Mutex
	ring  [4096]message
	total uint64
}

func (o *outbox) push(m message) uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ring[o.total%uint64(len(o.ring))] = m
	o.total++
	return o.total
}

type gateway struct {
	pace *rate.Limiter
	out  outbox
	log  *logrus.Logger
}

func segments(text string) int { return 1 + len(text)/160 }

func (g *gateway) admit(ctx context.Context, m *message) error {
	if err := g.pace.WaitN(ctx, segments(m.Text)); err != nil {
		return err
	}
	m.When = time.Now().UTC()
	return nil
}

func (g *gateway) accept(w http.ResponseWriter, r *http.Request, p httprouter.Params) {
	m := message{To: p.ByName("to")}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 4<<10)).Decode(&m); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if err := g.admit(r.Context(), &m); err != nil {
		g.log.WithError(err).Warn("not admitted")
		http.Error(w, err.Error(), http.StatusTooManyRequests)
		return
	}
	w.WriteHeader(http.StatusAccepted)
	_ = json.NewEncoder(w).Encode(map[string]uint64{"id": g.out.push(m)})
}

func main() {
	log := logrus.New()
	log.SetOutput(os.Stderr)
	g := &gateway{pace: rate.NewLimiter(rate.Limit(350), 10), log: log}
	r := httprouter.New()
	r.POST("/sms/:to", g.accept)
	r.GET("/ready", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9855", r))
}
