// Package branding finds the themes of tenants.
package branding

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Theme is how a tenant looks.
type Theme struct {
	Tenant int    `json:"tenant"`
	State  string `json:"state"`
	Text   int    `json:"text"`
	Accent string `json:"accent"`
}

// Store finds themes.
type Store interface {
	Theme(ctx context.Context, tenant int) (Theme, error)
}

// Remote asks the settings service.
type Remote struct {
	base string
	http *http.Client
}

// NewRemote makes a Remote.
func NewRemote(base string, timeout time.Duration) *Remote {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 256, 256
	return &Remote{base, &http.Client{Transport: t, Timeout: timeout}}
}

// Theme implements Store.
func (r *Remote) Theme(ctx context.Context, tenant int) (Theme, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/settings/%d", r.base, tenant), nil)
	if err != nil {
		return Theme{}, err
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return Theme{}, err
	}
	defer resp.Body.Close()
	var doc struct{ State, Note string }
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		return Theme{}, err
	}
	return Theme{Tenant: tenant, State: doc.State, Text: len(doc.Note), Accent: fmt.Sprintf("#%06x", tenant*7919%0xffffff)}, nil
}
