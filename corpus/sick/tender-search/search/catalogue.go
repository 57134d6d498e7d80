// Package search finds tenders by the words of their titles.
package search

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Tender is a public tender.
type Tender struct {
	ID    int    `json:"id"`
	Title string `json:"title"`
	City  string `json:"city"`
	Euros int    `json:"euros"`
}

// Catalogue holds tenders, and an index that is renewed while it is searched.
type Catalogue struct {
	mu      sync.Mutex
	tenders []Tender
	index   atomic.Pointer[index]
}

// Fill makes a catalogue of n tenders.
func Fill(n int) *Catalogue {
	what := []string{
		"road repair", "school kitchen", "bridge survey", "street lamps", "server room", "fire engine", "town hall roof", "library chairs",
	}
	why := []string{"renewal", "maintenance contract", "framework agreement", "delivery and fitting", "planning services"}
	city := []string{"Kiel", "Bremen", "Ulm", "Trier", "Jena", "Celle"}
	c := &Catalogue{}
	for i := range n {
		title := fmt.Sprintf("%s: %s, lot %d of district %d", what[i%len(what)], why[i/8%len(why)], i%17, i%211)
		c.tenders = append(c.tenders, Tender{i, title, city[i%len(city)], 20000 + i*997%900000})
	}
	c.index.Store(build(c.tenders))
	return c
}

// Publish adds a tender. It is found after the next refresh.
func (c *Catalogue) Publish(t Tender) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t.ID = len(c.tenders)
	c.tenders = append(c.tenders, t)
}

// Find returns up to n tenders that have all words of q, the largest first.
func (c *Catalogue) Find(q string, n int) []Tender {
	return c.index.Load().find(q, n)
}

// Refresh renews the index from time to time.
func (c *Catalogue) Refresh(every time.Duration) {
	go func() {
		for range time.Tick(every) {
			c.mu.Lock()
			all := c.tenders[:len(c.tenders):len(c.tenders)]
			c.mu.Unlock()
			c.index.Store(build(all))
		}
	}()
}
