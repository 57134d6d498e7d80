// Command partner-ports looks up loyalty points at a partner and opens a new
// connection for each look-up. It lives in a network namespace with few local
// ports, where closed connections keep theirs for a minute: soon there are none.
package main

import (
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/gorilla/mux"
)

const partner = "127.0.0.1:9311"

// loopbackUp brings up the loopback device of the thread's network namespace.
func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	request := struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}{flags: syscall.IFF_UP | syscall.IFF_RUNNING}
	copy(request.name[:], "lo")
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}

// enclose opens the listener where clients are, and goes on with it in a network
// namespace of its own, where there are few local ports.
func enclose() error {
	runtime.LockOSThread()
	l, err := net.Listen("tcp", "127.0.0.1:9310")
	if err != nil {
		return err
	}
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	fd, err := syscall.Dup(int(file.Fd())) // without close-on-exec
	if err != nil {
		return err
	}
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return fmt.Errorf("a network namespace: %w", err)
	}
	if err := loopbackUp(); err != nil {
		return err
	}
	// These files show the namespace of the thread that opens them.
	for name, value := range map[string]string{"ip_local_port_range": "40000 40999", "tcp_tw_reuse": "0"} {
		if err := os.WriteFile("/proc/sys/net/ipv4/"+name, []byte(value), 0); err != nil {
			return err
		}
	}
	return syscall.Exec("/proc/self/exe", []string{"partner-ports", strconv.Itoa(fd)}, os.Environ())
}

func points() error {
	return http.ListenAndServe(partner, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, `{"member":%q,"points":%d}`, r.URL.Path[1:], len(r.URL.Path)*70)
	}))
}

func serve(fd int) error {
	l, err := net.FileListener(os.NewFile(uintptr(fd), "members"))
	if err != nil {
		return err
	}
	other := exec.Command("/proc/self/exe", "partner")
	other.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := other.Start(); err != nil {
		return err
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: partner})
	proxy.Transport = &http.Transport{MaxIdleConnsPerHost: -1}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusServiceUnavailable) }
	r := mux.NewRouter()
	r.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	r.PathPrefix("/").Handler(proxy)
	return http.Serve(l, r)
}

func main() {
	switch {
	case len(os.Args) < 2:
		log.Fatal(enclose())
	case os.Args[1] == "partner":
		log.Fatal(points())
	default:
		fd, err := strconv.Atoi(os.Args[1])
		if err != nil {
			log.Fatal(err)
		}
		log.Fatal(serve(fd))
	}
}
