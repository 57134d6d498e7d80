package covers

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Press is the picture agency.
type Press struct {
	base   string
	client http.Client
}

// NewPress makes a client.
func NewPress(base string) *Press {
	return &Press{base: base, client: http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 100}}}
}

// Fetch asks for a cover.
func (p *Press) Fetch(ctx context.Context, i Issue) (*Cover, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+"/pictures/"+i.Publisher+"-"+i.Number, nil)
	if err != nil {
		return nil, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var doc struct{ State, Note string }
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		return nil, err
	}
	return &Cover{Issue: i, State: doc.State, Bytes: len(doc.Note)}, nil
}
