// Package ports asks the services of a port.
package ports

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/redline-go/redline/corpus/sick/voyage-brief/internal/briefing"
)

// Client asks a port.
type Client struct {
	base string
	http *http.Client
}

// New makes a client.
func New(base string, timeout time.Duration) *Client {
	return &Client{base, &http.Client{Timeout: timeout, Transport: &http.Transport{
		MaxIdleConns: 256, MaxIdleConnsPerHost: 256, IdleConnTimeout: 90 * time.Second,
	}}}
}

type section struct {
	*Client
	name string
}

// Section returns a part of a briefing.
func (c *Client) Section(name string) briefing.Section { return section{c, name} }

func (s section) Name() string { return s.name }

func (s section) Load(ctx context.Context, port string) (string, error) {
	u := s.base + "/" + s.name + "?port=" + url.QueryEscape(port)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return "", err
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("%s: %s", s.name, resp.Status)
	}
	var doc struct{ State, Note string }
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		return "", fmt.Errorf("%s: %w", s.name, err)
	}
	return doc.State + ": " + doc.Note, nil
}
