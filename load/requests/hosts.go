package requests

import (
	"strings"

	"github.com/redline-go/redline/load"
	"github.com/redline-go/redline/load/endpoint"
)

// Hosts are the hosts that a plan's requests go to, in the order in which requests first
// name them. The zero value has none.
type Hosts struct {
	All       []load.Host
	Endpoints []endpoint.Endpoint // of each host, as in its first request
}

// Add returns the index of at's host, and adds the host if it is new. A new host that
// speaks TLS offers alpn ("h2") and nothing else.
func (h *Hosts) Add(at endpoint.Endpoint, alpn string) int {
	for i, known := range h.Endpoints {
		if Same(known, at) {
			return i
		}
	}
	if at.TLS != nil {
		at.TLS.NextProtos = []string{alpn}
	}
	h.Endpoints = append(h.Endpoints, at)
	h.All = append(h.All, load.Host{Address: at.Address, TLS: at.TLS})
	return len(h.All) - 1
}

// Same reports whether two endpoints are on one host. Their TLS settings are the plan's,
// so these are equal if the schemes are.
func Same(a, b endpoint.Endpoint) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Address, b.Address)
}
