// Command wharf-berths looks berths up with the harbour office and keeps them for a
// second, so that hardly any request asks for one.
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

type berth struct {
	key  string
	body []byte
}

// berthCache holds the last berths in a ring.
type berthCache struct {
	mu    sync.Mutex
	known map[string][]byte
	ring  []berth
	next  int
	load  func(vessel string) ([]byte, error)
}

func (c *berthCache) get(vessel string, at time.Time) ([]byte, error) {
	key := vessel + "@" + strconv.FormatInt(at.Unix(), 10) // old within a second
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
	c.ring[c.next] = berth{key, body}
	c.known[key] = body
	c.next = (c.next + 1) % len(c.ring)
	return body, nil
}

type office struct {
	client *http.Client
	url    string
}

func (o office) berth(vessel string) ([]byte, error) {
	resp, err := o.client.Get(o.url + "/berths/" + vessel)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

func main() {
	o := office{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 5 * time.Second}, os.Getenv("BACKEND_URL")}
	berths := &berthCache{known: map[string][]byte{}, ring: make([]berth, 2000), load: o.berth}
	http.HandleFunc("GET /berths/{vessel}", func(w http.ResponseWriter, r *http.Request) {
		body, err := berths.get(r.PathValue("vessel"), time.Now())
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		w.Write(body)
	})
	http.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9952", nil))
}
