// Command partner-feed checks whether a partner's feed is up to date by its header
// alone. It closes the body unread, three hundred kilobytes of it, which throws the
// connection away with it.
package main

import (
	"fmt"
	"net/http"
	"os"

	"github.com/gorilla/mux"
)

type partner struct{ url string }

func (p partner) fresh(client *http.Client) (bool, error) {
	ask := client.Get
	if os.Getenv("FIXED") != "" {
		ask = client.Head // which has no body, so that the connection is kept and nothing else is done
	}
	res, err := ask(p.url)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	return res.Header.Get("Content-Type") == "application/json", nil
}

func main() {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	p := partner{os.Getenv("BACKEND_URL") + "/feed"}
	r := mux.NewRouter()
	r.Path("/fresh").HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		ok, err := p.fresh(client)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
		}
		fmt.Fprint(w, ok)
	})
	r.Path("/").HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	if err := http.ListenAndServe("127.0.0.1:9627", r); err != nil {
		os.Exit(1)
	}
}
