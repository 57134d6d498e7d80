// Package excise is a client of the office of excise.
package excise

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"time"

	jsoniter "github.com/json-iterator/go"
	"golang.org/x/sync/semaphore"
)

var json = jsoniter.ConfigCompatibleWithStandardLibrary

// Verdict is what the office says.
type Verdict struct {
	State string `json:"state"`
	Note  string `json:"note"`
}

// Client asks the office.
type Client struct {
	base     string
	http     *http.Client
	parallel int64
	seats    *semaphore.Weighted
}

// Option changes a client.
type Option func(*Client)

// Timeout bounds each call.
func Timeout(d time.Duration) Option { return func(c *Client) { c.http.Timeout = d } }

// Parallel bounds the calls under way.
func Parallel(n int64) Option { return func(c *Client) { c.parallel = n } }

// New makes a client.
func New(base string, opts ...Option) *Client {
	c := &Client{
		base:     base,
		http:     &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute}},
		parallel: int64(runtime.GOMAXPROCS(0)),
	}
	for _, o := range opts {
		o(c)
	}
	c.seats = semaphore.NewWeighted(c.parallel)
	return c
}

// Check asks about a label.
func (c *Client) Check(ctx context.Context, brewery int, digest string) (Verdict, error) {
	var v Verdict
	if err := c.seats.Acquire(ctx, 1); err != nil {
		return v, fmt.Errorf("excise: %w", err)
	}
	defer c.seats.Release(1)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/breweries/%d/labels/%s", c.base, brewery, digest), nil)
	if err != nil {
		return v, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return v, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return v, fmt.Errorf("excise: %s", resp.Status)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err != nil {
		return v, err
	}
	return v, json.Unmarshal(body, &v)
}
