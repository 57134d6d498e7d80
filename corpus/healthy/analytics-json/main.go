// Command analytics-json answers with large documents that it makes anew for every
// request, at a rate that leaves it idle most of the time.
package main

import (
	"log"
	"net/http"
	"strconv"

	jsoniter "github.com/json-iterator/go"

	"github.com/gorilla/mux"
)

type bucket struct {
	Hour    int               `json:"hour"`
	Visits  int               `json:"visits"`
	Sources map[string]int    `json:"sources"`
	Labels  map[string]string `json:"labels"`
}

type document struct {
	Site    string   `json:"site"`
	Buckets []bucket `json:"buckets"`
}

func build(site string) document {
	d := document{Site: site}
	for h := range 72 {
		b := bucket{Hour: h, Visits: h * 31 % 97, Sources: map[string]int{}, Labels: map[string]string{}}
		for s := range 5 {
			b.Sources["source-"+strconv.Itoa(s)] = s * h
			b.Labels["label-"+strconv.Itoa(s)] = site
		}
		d.Buckets = append(d.Buckets, b)
	}
	return d
}

func main() {
	codec := jsoniter.ConfigCompatibleWithStandardLibrary
	r := mux.NewRouter()
	r.HandleFunc("/sites/{site}", func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if err := codec.NewEncoder(w).Encode(build(mux.Vars(req)["site"])); err != nil {
			log.Print(err)
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9653", r))
}
