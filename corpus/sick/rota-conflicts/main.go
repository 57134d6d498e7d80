// Command rota-conflicts finds shifts of a hospital ward that clash.
package main

import (
	"log/slog"
	"net/http"
	"os"

	"connectrpc.com/connect"

	"github.com/redline-go/redline/corpus/sick/rota-conflicts/internal/rota"
	"github.com/redline-go/redline/corpus/sick/rota-conflicts/internal/rpc"
)

func main() {
	var find rota.Finder = rota.Pairs{}
	if os.Getenv("FIXED") == "1" {
		find = rota.Sweep{}
	}
	svc := rpc.Service{Wards: rota.Demo(25, 900), Find: find}
	mux := http.NewServeMux()
	mux.Handle(rpc.CheckProcedure, connect.NewUnaryHandler(rpc.CheckProcedure, svc.Check,
		connect.WithInterceptors(rpc.Log(slog.Default()))))
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	if err := http.ListenAndServe("127.0.0.1:23603", mux); err != nil {
		slog.Error("listen", "err", err)
		os.Exit(1)
	}
}
