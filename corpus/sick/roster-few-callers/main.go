// Command roster-few-callers answers who is on duty. Nothing is wrong with it:
// the scenario's three patient callers never ask for enough to find its limit.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/mux"
)

type duty struct {
	Day   string   `json:"day"`
	Names []string `json:"names"`
}

type roster struct{ staff []string }

func (r roster) month(ward int) []duty {
	begin := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	days := make([]duty, 31)
	for d := range days {
		days[d].Day = begin.AddDate(0, 0, d).Format(time.DateOnly)
		for shift := range 3 {
			days[d].Names = append(days[d].Names, r.staff[(ward+d*3+shift*7)%len(r.staff)])
		}
	}
	return days
}

func main() {
	r := roster{}
	for i := range 60 {
		r.staff = append(r.staff, "nurse "+strconv.Itoa(i))
	}
	router := mux.NewRouter()
	router.HandleFunc("/wards/{ward:[0-9]+}", func(w http.ResponseWriter, req *http.Request) {
		ward, _ := strconv.Atoi(mux.Vars(req)["ward"])
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(r.month(ward)); err != nil {
			log.Print(err)
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9316", router))
}
