// Package registry is a client of the open data of the land registry.
package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Sheet is a data sheet.
type Sheet struct{ State, Note string }

// Client asks for sheets.
type Client struct {
	base string
	http *http.Client
}

// NewClient makes a client.
func NewClient(base string, timeout time.Duration) *Client {
	return &Client{base, &http.Client{Timeout: timeout, Transport: &http.Transport{MaxIdleConns: 200, MaxIdleConnsPerHost: 200}}}
}

// Sheet returns the sheet of a parcel.
func (c *Client) Sheet(ctx context.Context, kind, parcel string) (*Sheet, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/%s/%s", c.base, kind, parcel), nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	defer resp.Body.Close()
	s := new(Sheet)
	if err := json.NewDecoder(resp.Body).Decode(s); err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	return s, nil
}
