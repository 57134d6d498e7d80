// Command pilot-rosters exports the rosters of pilots as CSV.
package main

import (
	"log/slog"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/pilot-rosters/internal/api"
	"github.com/redline-go/redline/corpus/sick/pilot-rosters/internal/export"
	"github.com/redline-go/redline/corpus/sick/pilot-rosters/internal/roster"
)

func main() {
	var sheets export.Sheets = export.Roomy{}
	if os.Getenv("FIXED") == "1" {
		sheets = export.Exact{}
	}
	h := api.New(roster.NewPlan(500), sheets, slog.Default())
	if err := http.ListenAndServe("127.0.0.1:23424", h); err != nil {
		slog.Error("exit", "err", err)
	}
}
