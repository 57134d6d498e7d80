package anatomy_test

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	grpctest "google.golang.org/grpc/interop/grpc_testing"

	"github.com/redline-go/redline/record/breakdown"
)

// TestStreams calls gRPC's streaming methods: a stream is one request, however many
// messages it carries.
func TestStreams(t *testing.T) {
	for _, workers := range []uint32{0, 2} {
		v, l := listen(t)
		s := grpc.NewServer(grpc.NumStreamWorkers(workers), grpc.WaitForHandlers(true))
		grpctest.RegisterTestServiceServer(s, calls{handle: func() { time.Sleep(time.Millisecond) }})
		go func() { v.done <- s.Serve(l) }()
		client, cc := dial(t, v.addr)
		a, _ := v.dissect(v.traced(func() {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 3 {
						if err := converse(client, 5); err != nil {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			cc.Close()
			s.GracefulStop()
			<-v.done
			poll(settled) // a stream's goroutine says that it is done before it ends
		}))
		if len(a.Served) != 1 || a.Served[0] != (breakdown.Served{Server: breakdown.ServerGRPC, Requests: 12}) {
			t.Errorf("%d workers: served %+v", workers, a.Served)
		}
		sleeps := 0.0
		for _, p := range a.All {
			if p.State == breakdown.StateSleep {
				sleeps += p.Times
			}
		}
		if sleeps < 4.99 || sleeps > 5.01 {
			t.Errorf("%d workers: %v sleeps in a stream of 5 messages", workers, sleeps)
		}
	}
}

// converse sends n messages, each after the answer to the last one.
func converse(client grpctest.TestServiceClient, n int) error {
	stream, err := client.FullDuplexCall(context.Background())
	if err != nil {
		return err
	}
	for range n {
		if err := stream.Send(&grpctest.StreamingOutputCallRequest{}); err != nil {
			return err
		}
		if _, err := stream.Recv(); err != nil {
			return err
		}
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	if _, err := stream.Recv(); err != io.EOF {
		return err
	}
	return nil
}

// TestServersEdges traces the middle of a load on every kind of server: what lies inside
// must be found, and no more than the edges can cut may count as cut.
func TestServersEdges(t *testing.T) {
	const clients = 6
	for _, k := range kinds() {
		if k.name == "gRPC over net/http" { // its handlers have goroutines of their own
			continue
		}
		t.Run(k.name, func(t *testing.T) {
			v, l := listen(t)
			send, stop := k.start(t, l, func() { v.witness.run(func() { time.Sleep(time.Millisecond) }) })
			ctx, cancel := context.WithCancel(context.Background())
			var wg sync.WaitGroup
			for range clients {
				wg.Go(func() {
					for ctx.Err() == nil {
						if err := send(); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			v.await(5 * clients)
			var from, to time.Duration
			before := v.witness.clock.Now()
			data := v.traced(func() {
				from = v.witness.clock.Now()
				v.await(v.witness.count() + 30*clients)
				to = v.witness.clock.Now()
			})
			after := v.witness.clock.Now()
			cancel()
			wg.Wait()
			stop()
			a, lines := v.dissect(data)
			found := map[int64][]breakdown.Timeline{}
			for _, l := range lines {
				found[l.Goroutine] = append(found[l.Goroutine], l)
			}
			inside, missed, most := 0, 0, 0
			for _, h := range v.witness.seen {
				if h.to > before && h.from < after {
					most++
				}
				if h.from < from || h.to > to {
					continue
				}
				if inside++; !holds(found[h.goroutine], h, v.witness.clock.EpochError+time.Microsecond) {
					missed++
				}
			}
			// For each client, the first request may have begun before the trace, and the
			// last one may end after it.
			if inside < 20*clients || missed > 2*clients || a.Cut > 2*clients || a.Requests > most || a.Merged != 0 {
				t.Errorf("%d of %d inside missed; %d requests of at most %d, %d cut, %d merged", missed, inside,
					a.Requests, most, a.Cut, a.Merged)
			}
		})
	}
}
