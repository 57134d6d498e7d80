// Command form-binding shows loan applications. Each stored row is copied into
// the view by a generic binder that walks both structs by reflection.
package main

import (
	"io"
	"log"
	"net/http"
	"reflect"
	"strings"

	"github.com/go-chi/chi/v5"
)

type row struct {
	Applicant  string  `col:"applicant,trim"`
	Street     string  `col:"street,trim"`
	City       string  `col:"city"`
	Postcode   string  `col:"postcode"`
	Amount     float64 `col:"amount"`
	Months     int     `col:"months"`
	Employed   bool    `col:"employed"`
	Guarantor  string  `col:"guarantor,trim"`
	Collateral string  `col:"collateral"`
	Score      int     `col:"score"`
}

type view struct {
	Name       string  `from:"applicant"`
	Street     string  `from:"street"`
	City       string  `from:"city"`
	Postcode   string  `from:"postcode"`
	Amount     float64 `from:"amount"`
	Months     int     `from:"months"`
	Employed   bool    `from:"employed"`
	Guarantor  string  `from:"guarantor"`
	Collateral string  `from:"collateral"`
	Score      int     `from:"score"`
}

func bind[D, S any](to *D, from S) {
	dst, src := reflect.ValueOf(to).Elem(), reflect.ValueOf(from)
	for i := range dst.NumField() {
		want := dst.Type().Field(i).Tag.Get("from")
		for j := range src.NumField() {
			col, _, _ := strings.Cut(src.Type().Field(j).Tag.Get("col"), ",")
			if col == want {
				dst.Field(i).Set(src.Field(j))
			}
		}
	}
}

func main() {
	rows := make([]row, 60)
	for i := range rows {
		rows[i] = row{Applicant: "R. Mehta", Street: "Quay 4", City: "Malmo", Postcode: "21119",
			Amount: 9000 + float64(i), Months: 36, Employed: true, Score: 700}
	}
	r := chi.NewRouter()
	r.Get("/applications/{id}", func(w http.ResponseWriter, req *http.Request) {
		best := view{}
		for _, stored := range rows {
			var v view
			bind(&v, stored)
			if v.Amount > best.Amount {
				best = v
			}
		}
		io.WriteString(w, best.Name+" of "+best.City)
	})
	r.Get("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9702", r))
}
