// Command patient-charts adds measurements to a patient's chart. Charts lie in memory as
// JSON text: for one new value the whole chart is decoded into maps, and encoded again.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/mux"
)

const days = 90

type chart struct {
	sync.Mutex
	text []byte
}

type ward struct {
	charts map[string]*chart
}

func admit(n int) *ward {
	w := &ward{charts: make(map[string]*chart, n)}
	for p := range n {
		values := make([]any, days)
		for d := range values {
			values[d] = map[string]any{
				"day": d, "pulse": 60 + (p+d)%40, "temp": 36.4 + float64(d%20)/10,
				"nurse": fmt.Sprintf("n%02d", d%17), "note": "slept well, ate little",
			}
		}
		text, err := json.Marshal(map[string]any{"patient": p, "values": values, "cursor": 0})
		if err != nil {
			log.Fatal(err)
		}
		w.charts[strconv.Itoa(p)] = &chart{text: text}
	}
	return w
}

// edit changes a chart through a function that sees it as maps.
func (c *chart) edit(change func(doc map[string]any) error) error {
	c.Lock()
	defer c.Unlock()
	var doc map[string]any
	if err := json.Unmarshal(c.text, &doc); err != nil {
		return err
	}
	if err := change(doc); err != nil {
		return err
	}
	text, err := json.Marshal(doc)
	if err == nil {
		c.text = text
	}
	return err
}

func (w *ward) measure(rw http.ResponseWriter, r *http.Request) {
	c, ok := w.charts[mux.Vars(r)["patient"]]
	if !ok {
		http.NotFound(rw, r)
		return
	}
	pulse, err := strconv.Atoi(r.URL.Query().Get("pulse"))
	if err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return
	}
	err = c.edit(func(doc map[string]any) error {
		at, values := int(doc["cursor"].(float64)), doc["values"].([]any)
		day, ok := values[at%len(values)].(map[string]any)
		if !ok {
			return fmt.Errorf("day %d is no object", at)
		}
		day["pulse"], day["at"] = pulse, time.Now().Unix()
		doc["cursor"] = (at + 1) % len(values)
		return nil
	})
	if err != nil {
		http.Error(rw, err.Error(), http.StatusInternalServerError)
		return
	}
	rw.WriteHeader(http.StatusNoContent)
}

func main() {
	w := admit(600)
	r := mux.NewRouter()
	r.HandleFunc("/patients/{patient}/measurements", w.measure).Methods(http.MethodPost)
	r.HandleFunc("/live", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9870", r))
}
