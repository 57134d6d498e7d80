// Package press renders badges in the order in which they come.
package press

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"
)

// ErrClosed says that the press has stopped.
var ErrClosed = errors.New("press has stopped")

// Badge is what a visitor wears.
type Badge struct {
	Name  string `json:"name"`
	Host  string `json:"host"`
	Proof string `json:"proof,omitempty"`
	Area  int    `json:"area"`
}

type job struct {
	ctx   context.Context
	badge Badge
	done  chan outcome
}

type outcome struct {
	badge Badge
	err   error
}

// Press renders badges.
type Press struct {
	Operators int

	base string
	http *http.Client
	jobs chan job
	stop <-chan struct{}
}

// New makes a Press before a renderer.
func New(base string) *Press {
	return &Press{Operators: 1, base: base, jobs: make(chan job, 100),
		http: &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}}
}

// Start starts the operators.
func (p *Press) Start(ctx context.Context) {
	p.stop = ctx.Done()
	for range p.Operators {
		go p.operate()
	}
}

func (p *Press) operate() {
	for {
		select {
		case <-p.stop:
			return
		case j := <-p.jobs:
			b, err := p.render(j.ctx, j.badge)
			j.done <- outcome{b, err}
		}
	}
}

func (p *Press) render(ctx context.Context, b Badge) (Badge, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.base+"/render/"+url.PathEscape(b.Name), nil)
	if err != nil {
		return b, err
	}
	resp, err := p.http.Do(req)
	if err != nil {
		return b, err
	}
	defer resp.Body.Close()
	var doc struct{ State, Note string }
	if err := json.NewDecoder(resp.Body).Decode(&doc); err != nil {
		return b, err
	}
	b.Proof, b.Area = doc.State, 54*86+len(doc.Note)
	return b, nil
}

// Print waits until a badge is rendered.
func (p *Press) Print(ctx context.Context, b Badge) (Badge, error) {
	j := job{ctx, b, make(chan outcome, 1)}
	select {
	case p.jobs <- j:
	case <-p.stop:
		return b, ErrClosed
	case <-ctx.Done():
		return b, ctx.Err()
	}
	select {
	case o := <-j.done:
		return o.badge, o.err
	case <-ctx.Done():
		return b, ctx.Err()
	}
}
