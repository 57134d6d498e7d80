// Package customs asks the harbour's customs whether a vessel may unload.
package customs

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// Office is the customs office.
type Office struct {
	base string
	http http.Client
}

// NewOffice makes an office at base.
func NewOffice(base string) *Office {
	return &Office{base: base, http: http.Client{
		Timeout:   3 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 96, MaxIdleConns: 96, ForceAttemptHTTP2: false},
	}}
}

// Clearance is the answer of the office.
type Clearance struct {
	State string `json:"state"`
}

// Clear asks for vessel.
func (o *Office) Clear(ctx context.Context, vessel string) (Clearance, error) {
	var c Clearance
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.base+"/vessels/"+url.PathEscape(vessel)+"/clearance", nil)
	if err != nil {
		return c, err
	}
	resp, err := o.http.Do(req)
	if err != nil {
		return c, fmt.Errorf("customs: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return c, fmt.Errorf("customs: %s", resp.Status)
	}
	return c, json.NewDecoder(resp.Body).Decode(&c)
}
