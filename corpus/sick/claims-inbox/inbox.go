package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"
)

type claim struct {
	ID      int64  `json:"id"`
	Subject string `json:"subject"`
	Cents   int64  `json:"cents"`
	Flag    string `json:"flag,omitempty"`
}

type scorer func(ctx context.Context, batch []claim) (string, error)

type inbox struct {
	log   *slog.Logger
	score scorer
}

func (in *inbox) list(w http.ResponseWriter, r *http.Request) {
	claims, err := latest(r.Context(), r.PathValue("adjuster"))
	if err == nil {
		var flag string
		if flag, err = in.score(r.Context(), claims); err == nil {
			for i := range claims {
				claims[i].Flag = flag
			}
		}
	}
	if err != nil {
		in.log.Warn("inbox", "err", err)
		http.Error(w, "inbox", http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(claims)
}

func latest(ctx context.Context, adjuster string) (list []claim, err error) {
	s := sessionOf(ctx)
	rows, err := s.conn.QueryContext(ctx, `SELECT id, subject, cents FROM inbox_claims
		WHERE tenant = $1 AND adjuster = $2 ORDER BY id DESC LIMIT 10`, s.tenant, adjuster)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c claim
		if err := rows.Scan(&c.ID, &c.Subject, &c.Cents); err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, rows.Err()
}

// scoring asks the fraud model about a batch of claims in one call.
func scoring(base string) scorer {
	client := &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	return func(ctx context.Context, batch []claim) (string, error) {
		body, err := json.Marshal(batch)
		if err != nil {
			return "", err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/fraud/score", bytes.NewReader(body))
		if err != nil {
			return "", err
		}
		res, err := client.Do(req)
		if err != nil {
			return "", fmt.Errorf("score: %w", err)
		}
		defer res.Body.Close()
		var answer struct{ State string }
		raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
		if err != nil {
			return "", err
		}
		err = json.Unmarshal(raw, &answer)
		return answer.State, err
	}
}
