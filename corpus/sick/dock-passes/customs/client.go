// Package customs is a client of the customs office.
package customs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Client asks customs.
type Client struct {
	base string
	http *http.Client
	s    session
}

// Option changes how a client works.
type Option func(*Client)

// Concurrent lets requests share a ticket while they are under way.
func Concurrent() Option { return func(c *Client) { c.s.shared = true } }

// Dial makes a client of the office at base.
func Dial(base string, opts ...Option) *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 64
	c := &Client{base: base, http: &http.Client{Transport: t, Timeout: 3 * time.Second}}
	c.s.login = c.login
	for _, o := range opts {
		o(c)
	}
	return c
}

func (c *Client) login(ctx context.Context) (time.Duration, error) {
	var answer struct{ State string }
	if err := c.get(ctx, "/login", "", &answer); err != nil {
		return 0, err
	}
	return 2 * time.Minute, nil
}

// Cleared says whether a lorry's load is cleared.
func (c *Client) Cleared(ctx context.Context, plate string, manifests []string) (cleared bool, err error) {
	err = c.s.with(ctx, func(ticket string) error {
		q := url.Values{"plate": {plate}, "manifest": manifests}
		var answer struct{ State string }
		if err := c.get(ctx, "/clearance?"+q.Encode(), ticket, &answer); err != nil {
			return err
		}
		cleared = answer.State == "ok"
		return nil
	})
	return cleared, err
}

func (c *Client) get(ctx context.Context, path, ticket string, into any) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return err
	}
	if ticket != "" {
		req.Header.Set("X-Ticket", ticket)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer func() {
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("customs: %s", resp.Status)
	}
	return json.NewDecoder(resp.Body).Decode(into)
}
