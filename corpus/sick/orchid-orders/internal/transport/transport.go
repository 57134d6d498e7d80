// Package transport makes clients for calls between services.
package transport

import (
	"net"
	"net/http"
	"time"
)

// Config says how calls go out.
type Config struct {
	Spread bool // over the instances behind a balancer
	Idle   int
}

type agent struct {
	next http.RoundTripper
	name string
}

func (a agent) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", a.name)
	return a.next.RoundTrip(r)
}

// New makes a client.
func New(c Config) *http.Client {
	dial := net.Dialer{Timeout: time.Second, KeepAlive: 30 * time.Second}
	t := &http.Transport{
		DialContext:           dial.DialContext,
		MaxIdleConns:          c.Idle,
		MaxIdleConnsPerHost:   c.Idle,
		IdleConnTimeout:       90 * time.Second,
		ResponseHeaderTimeout: 2 * time.Second,
		DisableKeepAlives:     c.Spread,
		DisableCompression:    true,
	}
	return &http.Client{Transport: agent{t, "orchid-orders/1"}, Timeout: 3 * time.Second}
}
