// Command stall-index finds market stalls by the first letters of their name. A
// goroutine builds the index anew all the time, whether stalls changed or not.
package main

import (
	"fmt"
	"log"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

type stall struct {
	name string
	row  int
}

type market struct {
	stalls []stall
	index  atomic.Pointer[[]stall]
}

func newMarket(n int) *market {
	m := &market{}
	for i := range n {
		m.stalls = append(m.stalls, stall{fmt.Sprintf("%c%c stall %d", 'a'+i*7%26, 'a'+i*11%26, i), i % 40})
	}
	m.reindex()
	return m
}

// keepFresh never stops.
func (m *market) keepFresh() {
	for {
		m.reindex()
		time.Sleep(2 * time.Millisecond)
	}
}

func (m *market) reindex() {
	sorted := slices.Clone(m.stalls)
	slices.SortFunc(sorted, func(a, b stall) int { return strings.Compare(a.name, b.name) })
	m.index.Store(&sorted)
}

func (m *market) find(prefix string) (rows []int) {
	index := *m.index.Load()
	at, _ := slices.BinarySearchFunc(index, prefix, func(s stall, p string) int { return strings.Compare(s.name, p) })
	for ; at < len(index) && len(rows) < 10 && strings.HasPrefix(index[at].name, prefix); at++ {
		rows = append(rows, index[at].row)
	}
	return rows
}

func main() {
	m := newMarket(60_000)
	go m.keepFresh()
	http.HandleFunc("/stalls", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, m.find(r.FormValue("name")))
	})
	http.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9891", nil))
}
