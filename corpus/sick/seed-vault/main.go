// Command seed-vault serves the lots of a seed vault, over gRPC and as JSON.
package main

import (
	"context"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"google.golang.org/grpc"

	"github.com/redline-go/redline/corpus/sick/seed-vault/gateway"
	"github.com/redline-go/redline/corpus/sick/seed-vault/vault"
	"github.com/redline-go/redline/corpus/sick/seed-vault/vaultpb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	inner := grpc.NewServer(grpc.UnaryInterceptor(vault.Tenants("genebank", "field")))
	vaultpb.RegisterVaultServer(inner, vault.New(6000))
	go func() {
		if err := inner.Serve(l); err != nil {
			log.Print(err)
		}
	}()

	endpoint := gateway.Dialed(l.Addr().String())
	if os.Getenv("FIXED") == "1" {
		if endpoint, err = gateway.Kept(l.Addr().String()); err != nil {
			log.Fatal(err)
		}
	}
	outer := &http.Server{Addr: "127.0.0.1:9974", Handler: gateway.Mux(endpoint)}
	context.AfterFunc(ctx, func() {
		_ = outer.Close()
		inner.Stop()
	})
	if err := outer.ListenAndServe(); err != http.ErrServerClosed {
		log.Fatal(err)
	}
}
