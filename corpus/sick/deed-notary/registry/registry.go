// Package registry is a client of the land registry.
package registry

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Config says where the registry is.
type Config struct {
	URL      string
	Timeout  time.Duration
	TrustAll bool // the registry's test site has a certificate of its own making
}

// Entry is a line of the register.
type Entry struct {
	State string `json:"state"`
	Note  string `json:"note"`
}

// Clean says that nothing is charged on the land.
func (e Entry) Clean() bool { return e.State == "ok" }

// Client asks the registry.
type Client struct {
	base string
	http *http.Client
}

// New makes a client.
func New(c Config) *Client {
	t := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		TLSHandshakeTimeout: c.Timeout,
		MaxIdleConns:        100,
		MaxIdleConnsPerHost: 100,
		IdleConnTimeout:     time.Minute,
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: c.TrustAll, MinVersion: tls.VersionTLS12},
	}
	return &Client{c.URL, &http.Client{Transport: t, Timeout: c.Timeout}}
}

// Release lets go of what the client keeps.
func (c *Client) Release() { c.http.CloseIdleConnections() }

// Entry returns the entry of a deed.
func (c *Client) Entry(ctx context.Context, deed int) (e Entry, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/entries/"+strconv.Itoa(deed), nil)
	if err != nil {
		return e, err
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return e, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return e, err
	}
	if resp.StatusCode != http.StatusOK {
		return e, fmt.Errorf("registry: %s", resp.Status)
	}
	return e, json.Unmarshal(body, &e)
}
