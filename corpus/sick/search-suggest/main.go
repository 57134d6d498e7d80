// Command search-suggest completes what people type. It is far from busy, but it
// allocates all along the request in small steps, over an index that takes the
// collector a while to mark: requests that meet a collection have to help with it.
package main

import (
	"bytes"
	"hash/maphash"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
)

type node struct {
	word  string
	score int
	next  *node
	peers []*node
}

type index struct {
	seed    maphash.Seed
	buckets []*node
}

func grow(words, buckets int) *index {
	ix := &index{seed: maphash.MakeSeed(), buckets: make([]*node, buckets)}
	var last *node
	for i := range words {
		w := strings.Repeat(string(rune('a'+i%26)), 3+i%7) + string(rune('a'+i/26%26))
		at := i % buckets
		n := &node{word: w, score: i % 997, next: ix.buckets[at]}
		n.peers = []*node{last, n.next}
		ix.buckets[at], last = n, n
	}
	return ix
}

type candidate struct {
	*node
	rank   float64
	prefix []byte
}

func (ix *index) prefixes(term string) [][]byte {
	var out [][]byte
	for i := 1; i <= len(term); i++ {
		out = append(out, bytes.Repeat([]byte(term[:i]), 48))
	}
	return out
}

func (ix *index) gather(prefixes [][]byte) []*candidate {
	var out []*candidate
	for _, p := range prefixes {
		at := int(maphash.Bytes(ix.seed, p) % uint64(len(ix.buckets)))
		for n, i := ix.buckets[at], 0; n != nil && i < 160; n, i = n.next, i+1 {
			out = append(out, &candidate{node: n, prefix: p})
		}
	}
	return out
}

func weigh(cs []*candidate) []*candidate {
	kept := make([]*candidate, 0, len(cs))
	for _, c := range cs {
		kept = append(kept, &candidate{node: c.node, rank: float64(c.score) / float64(len(c.prefix)), prefix: c.prefix})
	}
	return kept
}

func lines(cs []*candidate) [][]byte {
	out := make([][]byte, len(cs))
	for i, c := range cs {
		out[i] = append(append([]byte(nil), c.word...), '\n')
	}
	return out
}

func main() {
	ix := grow(600_000, 4096)
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.GET("/suggest", func(c echo.Context) error {
		found := lines(weigh(ix.gather(ix.prefixes(c.QueryParam("q")))))
		return c.Blob(http.StatusOK, "text/plain", bytes.Join(found[:min(len(found), 40)], nil))
	})
	e.Logger.Fatal(e.Start("127.0.0.1:9605"))
}
