// Package gateway translates HTTP with JSON to calls of the vault.
package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/redline-go/redline/corpus/sick/seed-vault/vaultpb"
)

// Endpoint gives a client of the vault and what to call when done with it.
type Endpoint func() (vaultpb.VaultClient, io.Closer, error)

func dial(addr string) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+addr,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(8<<20)))
}

// Dialed is an endpoint at addr.
func Dialed(addr string) Endpoint {
	return func() (vaultpb.VaultClient, io.Closer, error) {
		conn, err := dial(addr)
		if err != nil {
			return nil, nil, fmt.Errorf("vault at %s: %w", addr, err)
		}
		return vaultpb.NewVaultClient(conn), conn, nil
	}
}

type open struct{}

func (open) Close() error { return nil }

// Kept is an endpoint at addr for as long as the gateway runs.
func Kept(addr string) (Endpoint, error) {
	conn, err := dial(addr)
	if err != nil {
		return nil, err
	}
	client := vaultpb.NewVaultClient(conn)
	return func() (vaultpb.VaultClient, io.Closer, error) { return client, open{}, nil }, nil
}

var statuses = map[codes.Code]int{
	codes.NotFound:         http.StatusNotFound,
	codes.InvalidArgument:  http.StatusBadRequest,
	codes.PermissionDenied: http.StatusForbidden,
	codes.DeadlineExceeded: http.StatusGatewayTimeout,
	codes.Unavailable:      http.StatusServiceUnavailable,
}

// Mux is the handlers of the gateway.
func Mux(endpoint Endpoint) *http.ServeMux {
	g := &gateway{endpoint, protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /v1/lots/{id}", g.handle(func(ctx context.Context, c vaultpb.VaultClient, r *http.Request) (proto.Message, error) {
		return c.GetLot(ctx, &vaultpb.GetLotRequest{Id: r.PathValue("id")})
	}))
	mux.HandleFunc("GET /v1/species/{species}/lots", g.handle(
		func(ctx context.Context, c vaultpb.VaultClient, r *http.Request) (proto.Message, error) {
			n := 20
			if v := r.URL.Query().Get("limit"); v != "" {
				var err error
				if n, err = strconv.Atoi(v); err != nil {
					return nil, status.Error(codes.InvalidArgument, "limit")
				}
			}
			return c.ListLots(ctx, &vaultpb.ListLotsRequest{Species: r.PathValue("species"), Limit: int32(n)})
		}))
	return mux
}

type gateway struct {
	endpoint Endpoint
	out      protojson.MarshalOptions
}

type call func(context.Context, vaultpb.VaultClient, *http.Request) (proto.Message, error)

func (g *gateway) handle(do call) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
		defer cancel()
		msg, err := g.forward(metadata.AppendToOutgoingContext(ctx, "tenant", r.Header.Get("X-Tenant")), r, do)
		if err != nil {
			g.fail(w, err)
			return
		}
		body, err := g.out.Marshal(msg)
		if err != nil {
			g.fail(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}
}

func (g *gateway) forward(ctx context.Context, r *http.Request, do call) (proto.Message, error) {
	client, conn, err := g.endpoint()
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return do(ctx, client, r)
}

func (g *gateway) fail(w http.ResponseWriter, err error) {
	s := status.Convert(err)
	code, ok := statuses[s.Code()]
	if !ok {
		code = http.StatusInternalServerError
	}
	http.Error(w, s.Message(), code)
}
