package escrow

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// Bank approves of payouts.
type Bank struct {
	base   string
	client *http.Client
}

// NewBank makes a client of the bank at base.
func NewBank(base string) *Bank {
	return &Bank{base, &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// Approves says whether the bank approves of paying a deposit out.
func (b *Bank) Approves(ctx context.Context, id int64) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("%s/approvals/%d", b.base, id), nil)
	if err != nil {
		return false, err
	}
	resp, err := b.client.Do(req)
	if err != nil {
		return false, err
	}
	defer resp.Body.Close()
	var answer struct{ State string }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return false, err
	}
	return resp.StatusCode == http.StatusOK && answer.State == "ok", nil
}
