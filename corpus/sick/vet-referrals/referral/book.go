// Package referral keeps the referrals of each practice.
package referral

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Referral is an animal on its way to a practice.
type Referral struct {
	ID      string    `json:"id"`
	Animal  string    `json:"animal"`
	Species string    `json:"species"`
	Reason  string    `json:"reason"`
	Urgent  bool      `json:"urgent"`
	Due     time.Time `json:"due"`
}

const shelves = 32

type shelf struct {
	mu   sync.Mutex
	kept map[string][]Referral
}

// Book keeps the latest referrals of each practice.
type Book struct {
	keep    int
	last    atomic.Uint64
	shelves [shelves]shelf
}

// NewBook keeps that many referrals of each practice.
func NewBook(keep int) *Book {
	b := &Book{keep: keep}
	for i := range b.shelves {
		b.shelves[i].kept = map[string][]Referral{}
	}
	return b
}

func (b *Book) shelf(practice string) *shelf {
	var sum uint
	for i := range len(practice) {
		sum = sum*31 + uint(practice[i])
	}
	return &b.shelves[sum%shelves]
}

// Add numbers a referral and keeps it.
func (b *Book) Add(practice string, r Referral) Referral {
	r.ID = "R" + strconv.FormatUint(b.last.Add(1), 10)
	s := b.shelf(practice)
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.kept[practice]
	if len(list) >= b.keep {
		list = slices.Delete(list, 0, len(list)-b.keep+1)
	}
	s.kept[practice] = append(list, r)
	return r
}

// Latest returns up to n referrals, the newest first.
func (b *Book) Latest(practice string, n int) []Referral {
	s := b.shelf(practice)
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.kept[practice]
	out := slices.Clone(list[max(0, len(list)-n):])
	slices.Reverse(out)
	return out
}
