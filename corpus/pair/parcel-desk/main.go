// Command parcel-desk weighs and labels parcels. Labels are printed through two
// printers that a channel hands out; a weighing waits until the scale has come to
// rest, which it takes on trust after a fixed time.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gorilla/mux"
)

type printer struct {
	queue string
	http  *http.Client
}

func (p *printer) print(parcel string) error {
	res, err := p.http.Get(p.queue + "/print/" + parcel)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return err
}

type desk struct{ printers chan *printer }

func (d *desk) label(w http.ResponseWriter, r *http.Request) {
	p := <-d.printers
	defer func() { d.printers <- p }()
	if err := p.print(mux.Vars(r)["parcel"]); err != nil {
		w.WriteHeader(http.StatusBadGateway)
	}
}

func (d *desk) weigh(w http.ResponseWriter, r *http.Request) {
	settled := time.NewTimer(40 * time.Millisecond)
	<-settled.C
	_, _ = fmt.Fprintf(w, "%d g", 200+len(mux.Vars(r)["parcel"]))
}

func main() {
	d := &desk{make(chan *printer, 2)}
	for range cap(d.printers) {
		d.printers <- &printer{os.Getenv("BACKEND_URL"), &http.Client{}}
	}
	r := mux.NewRouter()
	r.HandleFunc("/parcels/{parcel}/label", d.label).Methods(http.MethodPost)
	r.HandleFunc("/parcels/{parcel}/weight", d.weigh).Methods(http.MethodGet)
	log.Fatal(http.ListenAndServe("127.0.0.1:9425", r))
}
