// Command reports-export writes monthly reports. After each it "cleans up" with a
// full collection, which every request waits for.
package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime"
	"strconv"
)

type row struct {
	Customer string
	Cents    int64
	Tags     []string
}

type archive struct {
	months [12][]*row
}

func newArchive() *archive {
	a := &archive{}
	for m := range a.months {
		for i := range 20_000 {
			a.months[m] = append(a.months[m], &row{Customer: fmt.Sprint("c", i), Cents: int64(i * m), Tags: []string{"eu", "net"}})
		}
	}
	return a
}

type exporter struct {
	*archive
	cleanup func()
}

func (e *exporter) write(w io.Writer, month, rows int) error {
	out := csv.NewWriter(w)
	for _, r := range e.months[month%12][:rows] {
		if err := out.Write([]string{r.Customer, strconv.FormatInt(r.Cents, 10)}); err != nil {
			return err
		}
	}
	out.Flush()
	e.cleanup()
	return out.Error()
}

func releaseMemory() {
	runtime.GC()
}

func main() {
	e := &exporter{archive: newArchive(), cleanup: releaseMemory}
	http.HandleFunc("/reports/", func(w http.ResponseWriter, r *http.Request) {
		month, err := strconv.Atoi(r.URL.Path[len("/reports/"):])
		if err != nil {
			http.Error(w, "which month?", http.StatusBadRequest)
			return
		}
		if err := e.write(w, month, 100); err != nil {
			log.Print(err)
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9607", nil))
}
