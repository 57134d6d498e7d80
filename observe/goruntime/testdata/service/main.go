// Command service is a small HTTP service that works, locks, blocks and
// allocates until its standard input ends; with -quiet it only waits for that. It
// prints its address.
package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	_ "net/http/pprof"
	"os"
	"runtime"
	"sync"
	"time"
)

var (
	mu   sync.Mutex
	sink []byte
)

func work() {
	mu.Lock()
	defer mu.Unlock()
	for begin := time.Now(); time.Since(begin) < 200*time.Microsecond; {
		sink = make([]byte, 4<<10)
	}
}

// leaking waits for a value that is never sent.
func leaking(c chan int) { <-c }

func main() {
	if len(os.Args) > 1 && os.Args[1] == "-mutex" {
		runtime.SetMutexProfileFraction(1)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go http.Serve(l, nil)
	quiet := len(os.Args) > 1 && os.Args[1] == "-quiet"
	for i := 0; i < 4 && !quiet; i++ {
		go func() {
			for {
				work()
				time.Sleep(2 * time.Millisecond)
			}
		}()
	}
	if leak := make(chan int); len(os.Args) > 1 && os.Args[1] == "-leak" {
		go leaking(leak)
	}
	go func() { // collections publish allocations
		for {
			time.Sleep(50 * time.Millisecond)
			if !quiet {
				runtime.GC()
			}
		}
	}()
	fmt.Println(l.Addr())
	io.Copy(io.Discard, os.Stdin)
}
