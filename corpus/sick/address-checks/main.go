// Command address-checks verifies postal addresses through a pool of workers.
// The pool has four, each of which mostly waits for the register's answer.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"sync"

	"github.com/panjf2000/ants/v2"
	"github.com/valyala/fasthttp"
)

type check struct {
	postcode string
	status   int
	done     sync.WaitGroup
}

func main() {
	register := os.Getenv("BACKEND_URL") + "/register/"
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	pool, err := ants.NewPoolWithFunc(4, func(task any) {
		c := task.(*check)
		defer c.done.Done()
		res, err := client.Get(register + c.postcode)
		if err != nil {
			c.status = fasthttp.StatusBadGateway
			return
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		c.status = res.StatusCode
	})
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Release()
	log.Fatal(fasthttp.ListenAndServe("127.0.0.1:9410", func(ctx *fasthttp.RequestCtx) {
		if string(ctx.Path()) != "/check" {
			return
		}
		c := &check{postcode: string(ctx.QueryArgs().Peek("postcode"))}
		c.done.Add(1)
		if err := pool.Invoke(c); err != nil {
			ctx.SetStatusCode(fasthttp.StatusServiceUnavailable)
			return
		}
		c.done.Wait()
		ctx.SetStatusCode(c.status)
	}))
}
