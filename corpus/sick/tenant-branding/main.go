// Command tenant-branding gives web shops the colours and texts of their tenant.
package main

import (
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/redline-go/redline/corpus/sick/tenant-branding/api"
	"github.com/redline-go/redline/corpus/sick/tenant-branding/branding"
)

func main() {
	src := branding.NewRemote(os.Getenv("BACKEND_URL"), 2*time.Second)
	var store branding.Store = branding.NewCache(src, 1500*time.Millisecond)
	if os.Getenv("FIXED") == "1" {
		store = branding.NewOpenCache(src, 1500*time.Millisecond)
	}
	srv := &http.Server{Addr: "127.0.0.1:23404", Handler: api.Engine(store), ReadTimeout: 5 * time.Second}
	if err := srv.ListenAndServe(); err != nil {
		slog.Error("server", "err", err)
		os.Exit(1)
	}
}
