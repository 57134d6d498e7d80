// Command ticket-small-backlog sells tickets to devices that connect anew for
// each sale. Its listener keeps 3 connections waiting, and the accept loop asks
// a register of devices before it takes the next.
package main

import (
	"hash/fnv"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"
)

// register knows which devices may connect; asking it takes a moment.
type register struct{ asked atomic.Int64 }

func (r *register) admits(addr net.Addr) bool {
	r.asked.Add(1)
	time.Sleep(4 * time.Millisecond)
	return addr != nil
}

// gate is a listener that lets in what the register admits.
type gate struct {
	net.Listener
	register *register
}

func (g gate) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if g.register.admits(c.RemoteAddr()) {
			return c, nil
		}
		_ = c.Close()
	}
}

// listen opens a socket with a backlog of its own choice, which package net does
// not offer.
func listen(port, backlog int) (net.Listener, error) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return nil, err
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return nil, err
	}
	if err := syscall.Listen(fd, backlog); err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "tickets")
	defer file.Close()
	return net.FileListener(file)
}

type booth struct{ sold atomic.Int64 }

func (b *booth) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	number := b.sold.Add(1)
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(r.URL.Path + strconv.FormatInt(number, 10)))
	w.Header().Set("Connection", "close")
	_, _ = w.Write(strconv.AppendUint(nil, uint64(sum.Sum32()), 36))
}

func main() {
	l, err := listen(9306, 3)
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.Serve(gate{l, &register{}}, &booth{}))
}
