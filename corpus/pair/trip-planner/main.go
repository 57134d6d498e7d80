// Command trip-planner plans trips. It waits for a timetable service, and longer
// than it should; and it paces itself with a timer to spare that service.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

type planner struct {
	timetable string
	client    *http.Client
	pause     time.Duration
}

func (p *planner) connections(from string) (io.ReadCloser, error) {
	res, err := p.client.Get(p.timetable + "/from/" + from)
	if err != nil {
		return nil, err
	}
	return res.Body, nil
}

func (p *planner) breathe() { time.Sleep(p.pause) }

func (p *planner) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.breathe()
	list, err := p.connections(r.PathValue("from"))
	if err != nil {
		w.WriteHeader(http.StatusGatewayTimeout)
		return
	}
	defer list.Close()
	_, _ = io.Copy(w, list)
}

func main() {
	mux := http.NewServeMux()
	mux.Handle("GET /trips/{from}", &planner{
		timetable: os.Getenv("BACKEND_URL"),
		client:    &http.Client{Timeout: 3 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32}},
		pause:     12 * time.Millisecond,
	})
	mux.HandleFunc("GET /ping", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9640", mux))
}
