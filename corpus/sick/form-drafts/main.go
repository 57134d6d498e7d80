// Command form-drafts keeps what citizens have typed so far into long forms.
package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"

	"github.com/julienschmidt/httprouter"

	"github.com/redline-go/redline/corpus/sick/form-drafts/drafts"
)

type server struct{ shelf drafts.Shelf }

func (s server) put(w http.ResponseWriter, r *http.Request, ps httprouter.Params) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	var fields map[string]string
	if err := json.Unmarshal(body, &fields); err != nil {
		http.Error(w, "a draft is an object of texts", http.StatusBadRequest)
		return
	}
	version, err := s.shelf.Save(ps.ByName("citizen"), ps.ByName("form"), fields)
	if err != nil {
		log.Println("save:", err)
		http.Error(w, "not saved", http.StatusInternalServerError)
		return
	}
	w.Header().Set("ETag", version)
	w.WriteHeader(http.StatusNoContent)
}

func (s server) get(w http.ResponseWriter, _ *http.Request, ps httprouter.Params) {
	d, err := s.shelf.Load(ps.ByName("citizen"), ps.ByName("form"))
	if errors.Is(err, fs.ErrNotExist) {
		http.Error(w, "no draft", http.StatusNotFound)
		return
	}
	if err != nil {
		http.Error(w, "not read", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(d)
}

func main() {
	dir, err := os.MkdirTemp(os.Getenv("DRAFTS"), "form-drafts-")
	if err != nil {
		log.Fatal(err)
	}
	journal, err := drafts.OpenJournal(dir, os.Getenv("FIXED") != "1")
	if err != nil {
		log.Fatal(err)
	}
	s := server{drafts.Numbered{Store: journal}}
	r := httprouter.New()
	r.PUT("/citizens/:citizen/drafts/:form", s.put)
	r.GET("/citizens/:citizen/drafts/:form", s.get)
	r.GET("/ok", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) { w.WriteHeader(http.StatusOK) })
	log.Fatal(http.ListenAndServe("127.0.0.1:21310", r))
}
