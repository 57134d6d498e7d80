// Command wharf-fees looks fees up with the harbour office and keeps them, by a key
// that no two requests share.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

type fee struct {
	key  string
	body []byte
}

// feeCache holds the last fees in a ring.
type feeCache struct {
	mu    sync.Mutex
	known map[string][]byte
	ring  []fee
	next  int
	load  func(vessel string) ([]byte, error)
}

func (c *feeCache) get(vessel string, at time.Time) ([]byte, error) {
	key := vessel + "@" + strconv.FormatInt(at.UnixNano(), 10)
	c.mu.Lock()
	body, ok := c.known[key]
	c.mu.Unlock()
	if ok {
		return body, nil
	}
	body, err := c.load(vessel)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, c.ring[c.next].key)
	c.ring[c.next] = fee{key, body}
	c.known[key] = body
	c.next = (c.next + 1) % len(c.ring)
	return body, nil
}

type office struct {
	client *http.Client
	url    string
}

func (o office) fee(vessel string) ([]byte, error) {
	resp, err := o.client.Get(o.url + "/fees/" + vessel)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

func main() {
	o := office{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 5 * time.Second}, os.Getenv("BACKEND_URL")}
	fees := &feeCache{known: map[string][]byte{}, ring: make([]fee, 2000), load: o.fee}
	http.HandleFunc("GET /fees/{vessel}", func(w http.ResponseWriter, r *http.Request) {
		body, err := fees.get(r.PathValue("vessel"), time.Now())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Write(body)
	})
	http.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9951", nil))
}
