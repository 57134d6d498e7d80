// Package nursery asks nurseries for their stock.
package nursery

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// Client asks nurseries.
type Client struct {
	base string
	http *http.Client
}

// New makes a client.
func New(base string, c *http.Client) *Client { return &Client{base, c} }

// Stock says how many plants a nursery has.
func (c *Client) Stock(ctx context.Context, nursery string, plant int) (int, error) {
	u := fmt.Sprintf("%s/nurseries/%s/plants/%d", c.base, nursery, plant)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, http.NoBody)
	if err != nil {
		return 0, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, fmt.Errorf("stock of %s: %w", nursery, err)
	}
	defer func() {
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
	}()
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("stock of %s: %s", nursery, resp.Status)
	}
	var doc struct{ State, Note string }
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		return 0, err
	}
	return (plant*len(nursery) + len(doc.State)) % 9, nil
}
