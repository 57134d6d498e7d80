// Command lane-meters counts vehicles by lane of a toll
// plaza. Each request takes the next lane in turn.
package main

import (
	"fmt"
	"log"
	"net/http"
	"sync/atomic"

	"github.com/julienschmidt/httprouter"
)

type lane struct{ passed atomic.Uint64 }

func (l *lane) pass() { l.passed.Add(1) }

type plaza struct {
	lanes [8]lane
	next  atomic.Uint32
}

func (p *plaza) flow(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
	l := &p.lanes[p.next.Add(1)%8]
	for range 9000 {
		l.pass()
	}
	fmt.Fprint(w, l.passed.Load())
}

func main() {
	p := &plaza{}
	r := httprouter.New()
	r.GET("/flow", p.flow)
	r.GET("/healthz", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9724", r))
}
