// Command server makes the traces of package anatomy's golden tests: 120
// requests over four connections to a server in its own process, each waiting in
// one known way, all inside the trace. It builds with every Go since 1.20, so
// that traces of old formats can be made too:
//
//	GOTOOLCHAIN=go1.21.13 go run -trimpath main.go ../go1.21.trace
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime/trace"
	"strings"
	"sync"
	"time"
)

var (
	mu    sync.Mutex
	queue = make(chan chan int)
)

func locked(w http.ResponseWriter, r *http.Request) {
	mu.Lock()
	defer mu.Unlock()
	time.Sleep(200 * time.Microsecond)
	fmt.Fprintln(w, "locked")
}

func queued(w http.ResponseWriter, r *http.Request) {
	answer := make(chan int)
	queue <- answer
	fmt.Fprintln(w, <-answer)
}

func posted(w http.ResponseWriter, r *http.Request) {
	n, _ := io.Copy(io.Discard, r.Body)
	time.Sleep(500 * time.Microsecond)
	fmt.Fprintln(w, n)
}

func worker() {
	for answer := range queue {
		time.Sleep(100 * time.Microsecond)
		answer <- 1
	}
}

func client(url string, done *sync.WaitGroup) {
	defer done.Done()
	c := &http.Client{Transport: &http.Transport{}}
	defer c.CloseIdleConnections()
	for i := 0; i < 30; i++ {
		var resp *http.Response
		var err error
		switch i % 3 {
		case 0:
			resp, err = c.Get(url + "/locked")
		case 1:
			resp, err = c.Get(url + "/queued")
		case 2:
			resp, err = c.Post(url+"/posted", "text/plain", strings.NewReader(strings.Repeat("x", 100*i)))
		}
		if err != nil {
			log.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
}

func main() {
	out, err := os.Create(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/locked", locked)
	http.HandleFunc("/queued", queued)
	http.HandleFunc("/posted", posted)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go http.Serve(l, nil)
	go worker()
	if err := trace.Start(out); err != nil {
		log.Fatal(err)
	}
	var done sync.WaitGroup
	for i := 0; i < 4; i++ {
		done.Add(1)
		go client("http://"+l.Addr().String(), &done)
	}
	done.Wait()
	time.Sleep(10 * time.Millisecond) // the last responses' ends
	trace.Stop()
	if err := out.Close(); err != nil {
		log.Fatal(err)
	}
}
