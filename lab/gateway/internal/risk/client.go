package risk

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// replyLimit bounds a score's body, in bytes.
const replyLimit = 1 << 10

// Client asks a risk service. A nil Client asks nobody.
type Client struct {
	base string
	http *http.Client
}

// NewClient returns a client of the service at base, such as
// http://127.0.0.1:9090.
func NewClient(base string) *Client {
	return &Client{base: base, http: &http.Client{
		Timeout: 5 * time.Second,
		// The default keeps two idle connections per host and would dial anew
		// for most requests: a fault, but not the one shown here.
		Transport: &http.Transport{MaxIdleConns: 128, MaxIdleConnsPerHost: 128, IdleConnTimeout: time.Minute},
	}}
}

// Score returns a user's risk, -1 from a nil Client.
func (c *Client) Score(ctx context.Context, user int64) (int, error) {
	if c == nil {
		return -1, nil
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+"/score?uid="+strconv.FormatInt(user, 10), nil)
	if err != nil {
		return 0, fmt.Errorf("risk score: %w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, fmt.Errorf("risk score: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, replyLimit))
	if err != nil {
		return 0, fmt.Errorf("risk score: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("risk score: the service answers %s", resp.Status)
	}
	var a answer
	if err := json.Unmarshal(body, &a); err != nil {
		return 0, fmt.Errorf("risk score: %w", err)
	}
	return a.Score, nil
}
