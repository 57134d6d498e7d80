// Command hotel-prices shows what rooms cost. The list of a channel manager is
// kept for a while, and all who find it expired fetch it.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
)

type aged[T any] struct {
	value T
	until time.Time
}

type shelf[K comparable, V any] struct {
	mu    sync.RWMutex
	items map[K]aged[V]
	life  time.Duration
	fill  func(K) (V, error)
}

func (s *shelf[K, V]) get(key K) (V, error) {
	s.mu.RLock()
	item, ok := s.items[key]
	s.mu.RUnlock()
	if ok && time.Now().Before(item.until) {
		return item.value, nil
	}
	value, err := s.fill(key)
	if err != nil {
		return value, err
	}
	s.mu.Lock()
	s.items[key] = aged[V]{value, time.Now().Add(s.life)}
	s.mu.Unlock()
	return value, nil
}

type manager struct {
	url    string
	client http.Client
}

func (m *manager) prices(house string) (string, error) {
	res, err := m.client.Get(m.url + "/houses/" + house)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

func main() {
	m := &manager{url: os.Getenv("BACKEND_URL"), client: http.Client{Timeout: 2 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	s := &shelf[string, string]{items: map[string]aged[string]{}, life: 700 * time.Millisecond, fill: m.prices}
	r := chi.NewRouter()
	r.Get("/houses/{house}/prices", func(w http.ResponseWriter, r *http.Request) {
		list, err := s.get(chi.URLParam(r, "house"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, list)
	})
	r.Get("/alive", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9522", r))
}
