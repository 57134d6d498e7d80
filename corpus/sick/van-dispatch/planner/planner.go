// Package planner asks the route planner how a van gets to a job.
package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Client calls the route planner.
type Client struct {
	base string
	http *http.Client
}

// New makes a client of the planner at base.
func New(base string, timeout time.Duration) *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 128, 128
	return &Client{base, &http.Client{Transport: t, Timeout: timeout}}
}

// Route returns the planner's name for the way from a depot to an address.
func (c *Client) Route(ctx context.Context, depot int32, address string) (string, error) {
	q := url.Values{"from": {fmt.Sprint("depot-", depot)}, "to": {address}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/route?"+q.Encode(), nil)
	if err != nil {
		return "", err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return "", fmt.Errorf("planner: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("planner: %s", resp.Status)
	}
	var answer struct {
		State string `json:"state"`
		Note  string `json:"note"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return "", fmt.Errorf("planner: %w", err)
	}
	return answer.State, nil
}
