// Command spice-blends proposes blends of spices to a kitchen.
package main

import (
	"log/slog"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/spice-blends/internal/httpapi"
	"github.com/redline-go/redline/corpus/sick/spice-blends/internal/kitchen"
	"github.com/redline-go/redline/corpus/sick/spice-blends/internal/limits"
)

func main() {
	conf := limits.Small
	if os.Getenv("FIXED") == "1" {
		conf = limits.Usual
	}
	conf.Apply()
	srv := &http.Server{Addr: "127.0.0.1:23607", Handler: httpapi.Routes(kitchen.Stock(30_000)), ReadHeaderTimeout: conf.HeaderTimeout}
	if err := srv.ListenAndServe(); err != nil {
		slog.Error("listen", "err", err)
		os.Exit(1)
	}
}
