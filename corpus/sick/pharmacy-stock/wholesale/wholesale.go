// Package wholesale asks a wholesaler for stock.
package wholesale

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Level is how much of a medicine is there.
type Level struct {
	Packs int
	Stale bool
}

// Policy says how the wholesaler is asked.
type Policy struct {
	Attempts int
	Remember bool // answer what is remembered when the wholesaler does not
}

// House is a wholesaler.
type House struct {
	base   *url.URL
	client *http.Client
	policy Policy
	seen   sync.Map // of int, by number
}

// Open makes a house.
func Open(base string, p Policy) *House {
	u, err := url.Parse(base)
	if err != nil {
		panic(err)
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 128
	return &House{base: u, policy: p, client: &http.Client{Timeout: 2 * time.Second, Transport: &steady{next: t, attempts: p.Attempts}}}
}

// Level returns the level of a medicine.
func (h *House) Level(ctx context.Context, pzn string) (Level, error) {
	packs, err := h.ask(ctx, pzn)
	if err == nil {
		h.seen.Store(pzn, packs)
		return Level{Packs: packs}, nil
	}
	if h.policy.Remember {
		if old, ok := h.seen.Load(pzn); ok {
			return Level{Packs: old.(int), Stale: true}, nil
		}
		return Level{Packs: 0, Stale: true}, nil
	}
	return Level{}, err
}

func (h *House) ask(ctx context.Context, pzn string) (int, error) {
	u := h.base.JoinPath("articles", pzn)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return 0, err
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("wholesaler: %s", resp.Status)
	}
	var a struct{ State, Note string }
	if err := json.NewDecoder(resp.Body).Decode(&a); err != nil {
		return 0, err
	}
	return len(a.Note), nil
}

// ValidPZN says whether text is the number of a medicine: seven digits and one that checks them.
func ValidPZN(text string) bool {
	if len(text) != 8 {
		return false
	}
	sum := 0
	for i, r := range text[:7] {
		if r < '0' || r > '9' {
			return false
		}
		sum += (i + 1) * int(r-'0')
	}
	return sum%11%10 == int(text[7]-'0')
}
