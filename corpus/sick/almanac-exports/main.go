// Command almanac-exports serves the almanac of a sky club, day by day and as
// tables to print.
package main

import (
	"log/slog"
	"net/http"
	"os"

	"github.com/julienschmidt/httprouter"

	"github.com/redline-go/redline/corpus/sick/almanac-exports/internal/almanac"
	"github.com/redline-go/redline/corpus/sick/almanac-exports/internal/export"
)

func main() {
	var opts []export.Option
	if os.Getenv("FIXED") == "1" {
		opts = append(opts, export.KeepMemory())
	}
	book := almanac.New(400, 366)
	h := handlers{book: book, tables: export.New(book, opts...)}
	r := httprouter.New()
	r.GET("/up", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	r.GET("/places/:place/days/:day", h.day)
	r.GET("/places/:place/table", h.table)
	if err := http.ListenAndServe("127.0.0.1:23606", r); err != nil {
		slog.Error("listen", "err", err)
		os.Exit(1)
	}
}
