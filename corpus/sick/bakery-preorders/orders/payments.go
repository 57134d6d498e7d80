package orders

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"
)

// Payments is the payment provider.
type Payments struct {
	base string
	http *http.Client
}

// NewPayments makes a client.
func NewPayments(base string) *Payments {
	return &Payments{base, &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// Hold reserves money.
func (p *Payments) Hold(ctx context.Context, customer string) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+"/holds/"+url.PathEscape(customer), nil)
	if err != nil {
		return "", err
	}
	resp, err := p.http.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	var doc struct{ State string }
	err = json.NewDecoder(resp.Body).Decode(&doc)
	return doc.State, err
}
