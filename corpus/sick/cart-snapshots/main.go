// Command cart-snapshots keeps the carts of a shop and hands out copies of them.
// Its memory limit leaves hardly any room above the carts themselves, so that the
// runtime collects all the time to stay below it.
package main

import (
	"log"
	"net/http"
	"strconv"
	"sync"

	"github.com/julienschmidt/httprouter"
)

type item struct {
	sku  string
	n    int
	gift *string
}

type cart struct {
	owner string
	items []*item
}

type carts struct {
	mu   sync.RWMutex
	byID map[int]*cart
}

func (c *carts) fill(n int) {
	note := "with love"
	for id := range n {
		k := &cart{owner: "user-" + strconv.Itoa(id)}
		for i := range 12 {
			k.items = append(k.items, &item{sku: "sku-" + strconv.Itoa(id*12+i), n: i, gift: &note})
		}
		c.byID[id] = k
	}
}

func (c *carts) find(id int) (*cart, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	k, ok := c.byID[id]
	return k, ok
}

func (k *cart) clone() *cart {
	twin := &cart{owner: k.owner, items: make([]*item, len(k.items))}
	for i, it := range k.items {
		dup := *it
		twin.items[i] = &dup
	}
	return twin
}

func (k *cart) totals() map[string]int {
	sums := make(map[string]int, len(k.items))
	for _, it := range k.items {
		sums[it.sku] += it.n
	}
	return sums
}

func main() {
	c := &carts{byID: map[int]*cart{}}
	c.fill(60_000)
	router := httprouter.New()
	router.GET("/carts/:id", func(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
		id, _ := strconv.Atoi(p.ByName("id"))
		k, ok := c.find(id)
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		snapshot := k.clone()
		body := make([]byte, 0, 2048)
		for sku, n := range snapshot.totals() {
			body = append(strconv.AppendInt(append(body, sku...), int64(n), 10), '\n')
		}
		_, _ = w.Write(body)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9606", router))
}
