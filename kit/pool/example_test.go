package pool_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/redline-go/redline/kit/pool"
)

// repeats is a server that sends back what it gets.
func repeats() net.Listener {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	go func() {
		for {
			conn, err := server.Accept()
			if err != nil {
				return
			}
			go io.Copy(conn, conn)
		}
	}()
	return server
}

func Example() {
	ctx := context.Background()
	server := repeats()
	defer server.Close()

	conns, err := pool.New(pool.Config[net.Conn]{
		Dial: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", server.Addr().String())
		},
		Check:       pool.SocketAlive[net.Conn],
		MaxOpen:     8,
		MaxIdleTime: time.Minute,
		MaxLifetime: time.Hour,
		MaxWait:     200 * time.Millisecond,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conns.Close()

	ask := func(question string) (string, error) {
		lease, err := conns.Get(ctx)
		if err != nil {
			return "", err
		}
		defer lease.Release()
		if _, err := fmt.Fprintln(lease.Conn, question); err != nil {
			lease.Discard() // its protocol is in an unknown state
			return "", err
		}
		answer, err := bufio.NewReader(lease.Conn).ReadString('\n')
		if err != nil {
			lease.Discard()
		}
		return answer, err
	}
	for range 4 {
		answer, err := ask("is anybody there?")
		fmt.Print(answer)
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Printf("%d dialled, reuse %.2f\n", conns.Stats().Dialed, conns.Stats().Reuse())
	// Output:
	// is anybody there?
	// is anybody there?
	// is anybody there?
	// is anybody there?
	// 1 dialled, reuse 0.75
}
