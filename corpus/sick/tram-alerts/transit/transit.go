// Package transit knows the lines of a city and asks the operator how they run.
package transit

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Line is a tram line.
type Line struct {
	ID    int      `json:"id"`
	Name  string   `json:"name"`
	Stops []string `json:"stops"`
}

// Status is how a line runs.
type Status struct {
	State string `json:"state"`
}

// Network is all lines with the last that is known of each.
type Network struct {
	mu    sync.RWMutex
	lines map[int]Line
	last  map[int]Status
}

// NewNetwork makes n lines.
func NewNetwork(n int) *Network {
	net := &Network{lines: map[int]Line{}, last: map[int]Status{}}
	for i := 1; i <= n; i++ {
		l := Line{ID: i, Name: fmt.Sprintf("Line %d", i)}
		for k := range 6 + i%9 {
			l.Stops = append(l.Stops, fmt.Sprintf("Stop %d/%d", i, k))
		}
		net.lines[i], net.last[i] = l, Status{State: "ok"}
	}
	return net
}

// Line finds a line.
func (n *Network) Line(id int) (Line, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	l, ok := n.lines[id]
	return l, ok
}

// Last is what was last known of a line.
func (n *Network) Last(id int) Status {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.last[id]
}

func (n *Network) learn(id int, s Status) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last[id] = s
}

// Operator is asked for the state of lines.
type Operator struct {
	base    string
	client  *http.Client
	network *Network
	budget  time.Duration
	log     *slog.Logger
}

// NewOperator makes an operator at base that teaches network. budget bounds how
// long an answer may take; zero is no bound.
func NewOperator(base string, network *Network, budget time.Duration, log *slog.Logger) *Operator {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 200
	t.MaxIdleConns = 200
	return &Operator{base: base, client: &http.Client{Transport: t}, network: network, budget: budget, log: log}
}

// State asks how a line runs. What the operator says is kept even if the caller
// has gone, so that the next one is served better.
func (o *Operator) State(ctx context.Context, id int) Status {
	s, err := o.fetch(context.WithoutCancel(ctx), id)
	if err != nil {
		o.log.DebugContext(ctx, "operator", "line", id, "err", err)
		return o.network.Last(id)
	}
	o.network.learn(id, s)
	return s
}

func (o *Operator) fetch(ctx context.Context, id int) (Status, error) {
	var s Status
	if o.budget > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.budget)
		defer cancel()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.base+"/lines/"+strconv.Itoa(id), nil)
	if err != nil {
		return s, err
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return s, fmt.Errorf("operator: %s", resp.Status)
	}
	err = json.NewDecoder(resp.Body).Decode(&s)
	return s, err
}
