// Command chart-nofile sends charts to browsers, each on a connection that it
// keeps for some fifty of them. The service may have 64 descriptors; more browsers
// than that come, and accept fails with EMFILE until one of them leaves.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"

	"github.com/gorilla/mux"
)

// charts holds the ticks of each symbol, and how many charts were sent.
type charts struct {
	ticks map[string][]byte
	sent  atomic.Int64
}

func (c *charts) prepare(symbols ...string) {
	c.ticks = map[string][]byte{}
	for i, symbol := range symbols {
		for t := range 200 {
			c.ticks[symbol] = fmt.Appendf(c.ticks[symbol], "%d;%d\n", t, 1000+(t*i*7)%93)
		}
	}
}

func (c *charts) watch(w http.ResponseWriter, r *http.Request) {
	ticks, ok := c.ticks[mux.Vars(r)["symbol"]]
	if !ok {
		http.NotFound(w, r)
		return
	}
	if c.sent.Add(1)%50 == 0 {
		w.Header().Set("Connection", "close")
	}
	_, _ = w.Write(ticks)
}

func main() {
	limit := syscall.Rlimit{Cur: 64, Max: 64}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		log.Fatal(err)
	}
	c := &charts{}
	c.prepare("ACME", "BOLT", "CORN")
	router := mux.NewRouter()
	router.HandleFunc("/watch/{symbol}", c.watch)
	router.HandleFunc("/up", func(http.ResponseWriter, *http.Request) {})
	listener, err := net.Listen("tcp", "127.0.0.1:9304")
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Handler: router, ErrorLog: log.New(io.Discard, "", 0)}
	log.Print(server.Serve(listener))
}
