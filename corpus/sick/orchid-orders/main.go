// Command orchid-orders says whether the nurseries can send what is ordered.
package main

import (
	"log/slog"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/orchid-orders/internal/nursery"
	"github.com/redline-go/redline/corpus/sick/orchid-orders/internal/orders"
	"github.com/redline-go/redline/corpus/sick/orchid-orders/internal/transport"
)

func main() {
	conf := transport.Config{Spread: true, Idle: 128}
	if os.Getenv("FIXED") == "1" {
		conf.Spread = false
	}
	client := nursery.New(os.Getenv("BACKEND_URL"), transport.New(conf))
	desk := orders.Desk{Stock: client, Nurseries: []string{"alma", "berg", "cala", "dunn", "eske", "fjord"}}
	if err := http.ListenAndServe("127.0.0.1:23613", desk.Routes(slog.Default())); err != nil {
		slog.Error("listen", "err", err)
		os.Exit(1)
	}
}
