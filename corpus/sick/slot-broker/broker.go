package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// ErrFull says that a slot has no room left.
var ErrFull = errors.New("slot is full")

const room = 100_000

// Hold is a place in a slot that a customer has for two minutes.
type Hold struct {
	Slot     string    `json:"slot"`
	Customer string    `json:"customer"`
	Ref      string    `json:"ref"`
	Until    time.Time `json:"until"`
}

// Confirm asks a carrier whether it still takes orders for a slot.
type Confirm func(ctx context.Context, slot string) error

// Carrier confirms over HTTP.
func Carrier(base string, timeout time.Duration) Confirm {
	c := &http.Client{Timeout: timeout, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	return func(ctx context.Context, slot string) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/confirm/"+slot, nil)
		if err != nil {
			return err
		}
		res, err := c.Do(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if _, err = io.Copy(io.Discard, res.Body); err == nil && res.StatusCode != http.StatusOK {
			err = errors.New("carrier: " + res.Status)
		}
		return err
	}
}

// Broker keeps the holds of all slots.
type Broker struct {
	confirm Confirm

	mu    sync.Mutex
	taken map[string]int
	holds []Hold // by Until
}

// NewBroker returns an empty broker.
func NewBroker(c Confirm) *Broker { return &Broker{confirm: c, taken: map[string]int{}} }

// Reserve takes a place in a slot.
func (b *Broker) Reserve(ctx context.Context, slot, customer string) (Hold, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.taken[slot] >= room {
		return Hold{}, ErrFull
	}
	if err := b.confirm(ctx, slot); err != nil {
		return Hold{}, err
	}
	b.taken[slot]++
	h := Hold{Slot: slot, Customer: customer, Ref: rand.Text(), Until: time.Now().Add(2 * time.Minute)}
	b.holds = append(b.holds, h)
	return h, nil
}

// Taken returns how many places of a slot are taken.
func (b *Broker) Taken(slot string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.taken[slot]
}

// sweep releases holds that ran out.
func (b *Broker) sweep(every time.Duration) {
	for {
		time.Sleep(every)
		b.mu.Lock()
		now, n := time.Now(), 0
		for n < len(b.holds) && b.holds[n].Until.Before(now) {
			b.taken[b.holds[n].Slot]--
			n++
		}
		b.holds = b.holds[n:]
		b.mu.Unlock()
	}
}
