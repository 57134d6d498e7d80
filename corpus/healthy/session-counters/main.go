// Command session-counters counts what sessions do. A request takes one mutex
// sixty times, each time for an instant.
package main

import (
	"fmt"
	"log"
	"net/http"
	"sync"

	"github.com/julienschmidt/httprouter"
)

type counters struct {
	mu sync.Mutex
	by map[string]int
}

func (c *counters) add(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by[name]++
	return c.by[name]
}

func main() {
	names := make([]string, 60)
	for i := range names {
		names[i] = fmt.Sprintf("step-%d", i)
	}
	c := &counters{by: map[string]int{}}
	r := httprouter.New()
	r.GET("/sessions/:id", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		total := 0
		for _, name := range names {
			total += c.add(name)
		}
		_, _ = fmt.Fprintln(w, total)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9426", r))
}
