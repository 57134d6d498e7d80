// Command ride-heartbeat counts the vehicles that have not reported for a while.
package main

import (
	"log"
	"strconv"
	"time"

	"github.com/valyala/fasthttp"
)

type vehicle struct{ seen time.Time }

type fleet struct{ vehicles []vehicle }

func (f *fleet) stale(limit time.Duration) (n int) {
	for i := range f.vehicles {
		if time.Since(f.vehicles[i].seen) > limit {
			n++
		}
	}
	return n
}

func main() {
	f := &fleet{vehicles: make([]vehicle, 4000)}
	for i := range f.vehicles {
		f.vehicles[i].seen = time.Now().Add(-time.Duration(i) * time.Millisecond)
	}
	log.Fatal(fasthttp.ListenAndServe("127.0.0.1:9712", func(ctx *fasthttp.RequestCtx) {
		if string(ctx.Path()) == "/stale" {
			ctx.SetBodyString(strconv.Itoa(f.stale(2 * time.Second)))
		}
	}))
}
