// Command seat-allocator picks the best free seats for a party.
package main

import (
	"cmp"
	"fmt"
	"log"
	"net/http"
	"slices"
	"strconv"
)

type seat struct{ row, column, price int }

func better(a, b seat) int {
	return cmp.Or(cmp.Compare(a.price, b.price), cmp.Compare(a.row, b.row), cmp.Compare(a.column, b.column))
}

func pick[S ~[]seat](free S, party int) (total int) {
	left := slices.Clone(free)
	for i := range party {
		left[0].price += i * 31 % 17
		slices.SortStableFunc(left, better)
		total += left[0].price
		left = left[1:]
	}
	return total
}

func main() {
	var free []seat
	for i := range 400 {
		free = append(free, seat{i / 20, i % 20, 40 + i*37%23})
	}
	http.HandleFunc("/pick", func(w http.ResponseWriter, r *http.Request) {
		party, _ := strconv.Atoi(r.URL.Query().Get("party"))
		fmt.Fprint(w, pick(free, min(party, 20)))
	})
	http.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9716", nil))
}
