// Command servers makes the trace of package anatomy's golden test that holds
// the servers besides net/http's HTTP/1: 30 requests each of HTTP/2, gRPC (in
// workers), fasthttp and a server that nobody knows, all marked with ids and all
// waiting for a worker that sleeps, under a CPU profile:
//
//	go run -trimpath ./anatomy/testdata/servers anatomy/testdata/servers.trace
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"sync"
	"time"

	"github.com/redline-go/redline/probe/request"
	"github.com/valyala/fasthttp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
)

var jobs = make(chan chan int)

func worker() {
	for done := range jobs {
		time.Sleep(100 * time.Microsecond)
		done <- 1
	}
}

func handle(id string) {
	_, end := request.Begin(context.Background(), id)
	defer end()
	done := make(chan int)
	jobs <- done
	<-done
}

// checker is gRPC's health service with a handler of ours.
type checker struct{ *health.Server }

func (c checker) Check(ctx context.Context, r *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	handle(r.Service)
	return &grpc_health_v1.HealthCheckResponse{}, nil
}

func listen() net.Listener {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	return l
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func get(p *http.Protocols, l net.Listener) func(id string) error {
	c := &http.Client{Transport: &http.Transport{Protocols: p}}
	return func(id string) error {
		resp, err := c.Get("http://" + l.Addr().String() + "/" + id)
		if err != nil {
			return err
		}
		io.Copy(io.Discard, resp.Body)
		return resp.Body.Close()
	}
}

func main() {
	out, err := os.Create(os.Args[1])
	must(err)
	go worker()

	var h1, h2 http.Protocols
	h1.SetHTTP1(true)
	h2.SetUnencryptedHTTP2(true)
	streams, calls, fast := listen(), listen(), listen()
	web := &http.Server{Protocols: &h2, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handle(r.URL.Path[1:]) })}
	go web.Serve(streams)
	rpc := grpc.NewServer(grpc.NumStreamWorkers(2))
	grpc_health_v1.RegisterHealthServer(rpc, checker{health.NewServer()})
	go rpc.Serve(calls)
	go fasthttp.Serve(fast, func(ctx *fasthttp.RequestCtx) { handle(string(ctx.Path()[1:])) })
	cc, err := grpc.NewClient(calls.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(err)
	client := grpc_health_v1.NewHealthClient(cc)

	must(pprof.StartCPUProfile(io.Discard))
	must(trace.Start(out))
	var done sync.WaitGroup
	for name, send := range map[string]func(id string) error{
		"http2": get(&h2, streams),
		"fast":  get(&h1, fast),
		"grpc": func(id string) error {
			_, err := client.Check(context.Background(), &grpc_health_v1.HealthCheckRequest{Service: id})
			return err
		},
		"other": func(id string) error { handle(id); return nil },
	} {
		done.Go(func() {
			for i := range 30 {
				must(send(fmt.Sprintf("%s-%d", name, i)))
			}
		})
	}
	done.Wait()
	time.Sleep(10 * time.Millisecond) // the last responses' ends
	trace.Stop()
	must(out.Close())
}
