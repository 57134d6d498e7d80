// Command session-registry opens sessions for visitors and remembers every one of
// them for ever: nothing ends a session.
package main

import (
	"crypto/rand"
	"encoding/hex"
	"log"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

type session struct {
	token   string
	opened  time.Time
	basket  []byte
	history [8]*visit
}

type visit struct{ path string }

type registry struct {
	mu   sync.Mutex
	open map[string]*session
}

func (r *registry) begin(path string) *session {
	var id [16]byte
	_, _ = rand.Read(id[:])
	s := &session{token: hex.EncodeToString(id[:]), opened: time.Now(), basket: make([]byte, 6<<10)}
	s.history[0] = &visit{path}
	r.mu.Lock()
	r.open[s.token] = s
	r.mu.Unlock()
	return s
}

func greet(s *session) []byte {
	page := make([]byte, 0, 32<<10)
	for range 200 {
		page = append(page, s.token...)
	}
	return page[:512]
}

func main() {
	r := &registry{open: map[string]*session{}}
	handler := func(ctx *fasthttp.RequestCtx) {
		s := r.begin(string(ctx.Path()))
		ctx.Response.Header.Set("X-Session", s.token)
		ctx.SetBody(greet(s))
	}
	log.Fatal(fasthttp.ListenAndServe("127.0.0.1:9609", handler))
}
