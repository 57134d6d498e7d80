// Command meter-accept-limit takes readings of electricity meters. It serves 8
// connections at a time and accepts no more until one is closed, while the
// kernel's queue in front of it is short.
package main

import (
	"log"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/valyala/fasthttp"
)

// turnstile is a listener that waits before it accepts while too many are in.
type turnstile struct {
	net.Listener
	free chan struct{}
}

type passage struct {
	net.Conn
	leave func()
}

func (t *turnstile) Accept() (net.Conn, error) {
	t.free <- struct{}{}
	c, err := t.Listener.Accept()
	if err != nil {
		<-t.free
		return nil, err
	}
	left := false
	return &passage{Conn: c, leave: func() {
		if !left {
			left = true
			<-t.free
		}
	}}, nil
}

func (p *passage) Close() error {
	defer p.leave()
	return p.Conn.Close()
}

func readings(ctx *fasthttp.RequestCtx) {
	sum := 0
	for i, b := range ctx.PostBody() {
		sum += i * int(b)
	}
	ctx.SetBodyString(strconv.Itoa(sum))
}

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:9307")
	if err != nil {
		log.Fatal(err)
	}
	// listen(2) again makes the queue shorter.
	raw, err := l.(*net.TCPListener).SyscallConn()
	if err != nil {
		log.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { err = syscall.Listen(int(fd), 16) }); err != nil {
		log.Fatal(err)
	}
	// A meter sends a few dozen readings on one connection, with pauses.
	s := &fasthttp.Server{Handler: readings, MaxRequestsPerConn: 30, ReadTimeout: 5 * time.Second, Logger: log.New(os.Stderr, "", 0)}
	log.Fatal(s.Serve(&turnstile{l, make(chan struct{}, 8)}))
}
