package main

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/julienschmidt/httprouter"

	"github.com/redline-go/redline/corpus/sick/almanac-exports/internal/almanac"
	"github.com/redline-go/redline/corpus/sick/almanac-exports/internal/export"
)

type handlers struct {
	book   *almanac.Book
	tables *export.Tables
}

func (h handlers) day(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
	place, err1 := strconv.Atoi(p.ByName("place"))
	day, err2 := strconv.Atoi(p.ByName("day"))
	if err := errors.Join(err1, err2); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	e, ok := h.book.Day(place, day)
	if !ok {
		http.Error(w, "no such day", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(e)
}

func (h handlers) table(w http.ResponseWriter, _ *http.Request, p httprouter.Params) {
	place, err := strconv.Atoi(p.ByName("place"))
	if err != nil {
		http.Error(w, "place", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/csv")
	if err := h.tables.Write(w, place); errors.Is(err, almanac.ErrPlace) {
		http.Error(w, err.Error(), http.StatusNotFound)
	}
}
