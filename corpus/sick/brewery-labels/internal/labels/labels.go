// Package labels knows what a label must say.
package labels

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"github.com/redline-go/redline/corpus/sick/brewery-labels/internal/excise"
)

// ErrLabel says that a label is not complete.
var ErrLabel = errors.New("label")

// Label is printed on a bottle.
type Label struct {
	Name    string  `json:"name" binding:"required"`
	Alcohol float64 `json:"alcohol" binding:"gte=0,lte=30"`
	Malts   string  `json:"malts" binding:"required"`
}

// Result is what became of a label.
type Result struct {
	Digest   string   `json:"digest"`
	State    string   `json:"state"`
	Warnings []string `json:"warnings,omitempty"`
}

// Office checks labels.
type Office interface {
	Check(ctx context.Context, brewery int, digest string) (excise.Verdict, error)
}

// Service checks labels.
type Service struct {
	office Office
	log    zerolog.Logger
}

// New makes a service.
func New(o Office, log zerolog.Logger) *Service { return &Service{o, log} }

var allergens = []string{"wheat", "barley", "oat", "rye", "lactose"}

// Submit checks a label here and at the office.
func (s *Service) Submit(ctx context.Context, brewery int, l Label) (Result, error) {
	if strings.TrimSpace(l.Name) == "" {
		return Result{}, fmt.Errorf("%w: no name", ErrLabel)
	}
	var r Result
	malts := strings.ToLower(l.Malts)
	for _, a := range allergens {
		if strings.Contains(malts, a) {
			r.Warnings = append(r.Warnings, "contains "+a)
		}
	}
	sum := sha256.Sum256([]byte(l.Name + "|" + malts))
	r.Digest = hex.EncodeToString(sum[:8])
	v, err := s.office.Check(ctx, brewery, r.Digest)
	if err != nil {
		s.log.Warn().Err(err).Int("brewery", brewery).Str("digest", r.Digest).Msg("check")
		return Result{}, err
	}
	r.State = v.State
	return r, nil
}
