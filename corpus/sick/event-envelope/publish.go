package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// enveloper makes events of anything that has a JSON form.
type enveloper struct {
	source  string
	maximum int // bytes
}

// fields returns the JSON form of v as a map.
func fields(v any) (map[string]any, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var m map[string]any
	err = json.Unmarshal(b, &m)
	return m, err
}

func (e *enveloper) envelope(kind string, n int, v any, at time.Time) (map[string]any, error) {
	m, err := fields(v)
	if err != nil {
		return nil, fmt.Errorf("%s %d: %w", kind, n, err)
	}
	m["kind"] = kind
	m["source"] = e.source
	m["sequence"] = strconv.Itoa(n)
	m["at"] = at
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(raw) > e.maximum {
		return nil, fmt.Errorf("%s %d has %d bytes", kind, n, len(raw))
	}
	return m, nil
}

// Publish returns the events of orders.
func (e *enveloper) Publish(orders []Order, at time.Time) ([]byte, error) {
	events := make([]map[string]any, 0, len(orders))
	for i, o := range orders {
		m, err := e.envelope("order.placed", i, o, at)
		if err != nil {
			return nil, err
		}
		events = append(events, m)
	}
	return json.Marshal(map[string]any{"events": events, "count": len(events)})
}

type event struct {
	Order
	Kind     string    `json:"kind"`
	Source   string    `json:"source"`
	Sequence string    `json:"sequence"`
	At       time.Time `json:"at"`
}

// typed makes events of orders.
type typed struct {
	source  string
	maximum int
}

// Publish returns the events of orders.
func (t *typed) Publish(orders []Order, at time.Time) ([]byte, error) {
	events := make([]event, len(orders))
	for i, o := range orders {
		events[i] = event{o, "order.placed", t.source, strconv.Itoa(i), at}
	}
	out, err := json.Marshal(struct {
		Events []event `json:"events"`
		Count  int     `json:"count"`
	}{events, len(events)})
	if err == nil && len(out) > t.maximum*len(orders) {
		err = fmt.Errorf("%d bytes", len(out))
	}
	return out, err
}
