package triage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

type classifier struct {
	url    string
	client *http.Client
}

func newClassifier(base string) *classifier {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 64, 64
	return &classifier{base + "/classify", &http.Client{Transport: t, Timeout: time.Second}}
}

func (c *classifier) classify(ctx context.Context, p prepared) (string, error) {
	body, err := json.Marshal(map[string]any{
		"id": p.id, "region": p.region, "mean": p.mean, "stddev": p.stddev, "bright": p.bright,
	})
	if err != nil {
		return "", err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := c.client.Do(req)
	if err != nil {
		return "", fmt.Errorf("classifier: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return "", fmt.Errorf("classifier: %s", resp.Status)
	}
	var answer struct {
		State string `json:"state"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return "", fmt.Errorf("classifier: %w", err)
	}
	return answer.State, nil
}
