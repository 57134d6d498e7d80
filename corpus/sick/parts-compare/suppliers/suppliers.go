// Package suppliers asks wholesalers of car parts for offers. Each is an adapter
// that registers itself by name.
package suppliers

import (
	"context"
	"fmt"
	"sort"
	"sync"

	"github.com/go-resty/resty/v2"
)

// Offer is what a supplier wants for a part.
type Offer struct {
	Supplier string `json:"supplier"`
	Cents    int64  `json:"cents"`
	Days     int    `json:"days"`
	State    string `json:"state"`
}

// Supplier sells parts.
type Supplier interface {
	Name() string
	Offer(ctx context.Context, part string) (Offer, error)
}

// Factory makes a supplier that is reached through client.
type Factory func(client *resty.Client) Supplier

var (
	mu        sync.Mutex
	factories = map[string]Factory{}
)

// Register makes a supplier known. It panics if name is taken.
func Register(name string, f Factory) {
	mu.Lock()
	defer mu.Unlock()
	if _, ok := factories[name]; ok {
		panic("suppliers: " + name + " registered twice")
	}
	factories[name] = f
}

// All makes the suppliers that are registered, by name.
func All(client *resty.Client) []Supplier {
	mu.Lock()
	defer mu.Unlock()
	var list []Supplier
	for _, f := range factories {
		list = append(list, f(client))
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name() < list[j].Name() })
	return list
}

type stock struct {
	State string `json:"state"`
}

func look(ctx context.Context, client *resty.Client, path string, args map[string]string) (stock, error) {
	var s stock
	resp, err := client.R().SetContext(ctx).SetPathParams(args).SetResult(&s).Get(path)
	if err != nil {
		return s, err
	}
	if resp.IsError() {
		return s, fmt.Errorf("%s: %s", resp.Request.URL, resp.Status())
	}
	return s, nil
}

func number(part string) (n int64) {
	for _, c := range part {
		n = (n*31 + int64(c)) % 9973
	}
	return n
}
