// Command geo-lookup tells where an address is. It makes a new HTTP client with a
// transport of its own for every question, so that every question opens a
// connection, and leaves it behind.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/julienschmidt/httprouter"
)

type place struct {
	IP    string `json:"ip"`
	State string `json:"state"`
}

func locate(base, ip string) (*place, error) {
	c := http.Client{
		Timeout:   time.Second,
		Transport: &http.Transport{IdleConnTimeout: 50 * time.Millisecond},
	}
	res, err := c.Get(base + "/v1/" + ip)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	p := &place{IP: ip}
	return p, json.NewDecoder(res.Body).Decode(p)
}

func main() {
	base := os.Getenv("BACKEND_URL")
	r := httprouter.New()
	r.GET("/geo/:ip", func(w http.ResponseWriter, _ *http.Request, ps httprouter.Params) {
		p, err := locate(base, ps.ByName("ip"))
		if err != nil {
			http.Error(w, "no answer", http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(p)
	})
	r.GET("/ok", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9625", r))
}
