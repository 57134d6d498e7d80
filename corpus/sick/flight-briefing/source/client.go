// Package source holds the authorities that a briefing is gathered from.
package source

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Client asks the authorities' common gateway.
type Client struct {
	base string
	http *http.Client
}

// NewClient asks at base, and waits no longer than timeout for each answer.
func NewClient(base string, timeout time.Duration) *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 256
	return &Client{base, &http.Client{Transport: t, Timeout: timeout}}
}

type bulletin struct {
	State string `json:"state"`
	Note  string `json:"note"`
}

func (c *Client) get(ctx context.Context, path string, query url.Values) (bulletin, error) {
	var b bulletin
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path+"?"+query.Encode(), nil)
	if err != nil {
		return b, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return b, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return b, fmt.Errorf("%s: %s", path, resp.Status)
	}
	err = json.NewDecoder(resp.Body).Decode(&b)
	return b, err
}
