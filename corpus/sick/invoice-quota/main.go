// Command invoice-quota lays out invoices as text, in a container that may use
// less than half of a CPU: the kernel stops it for most of every 100 ms.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
)

type position struct {
	article  string
	pieces   int
	cents    int64
	discount int64
}

type invoice struct {
	number    int
	positions []position
}

func draw(number int) invoice {
	in := invoice{number: number}
	seed := uint32(number*2654435761 + 1)
	for i := range 220 {
		seed = seed*1664525 + 1013904223
		in.positions = append(in.positions, position{
			article: "art-" + strconv.Itoa(int(seed%9000)), pieces: int(seed>>8)%12 + 1,
			cents: int64(seed>>4)%20000 + 99, discount: int64(i % 7),
		})
	}
	return in
}

func (in invoice) total() (net, tax int64) {
	for _, p := range in.positions {
		line := p.cents * int64(p.pieces)
		line -= line * p.discount / 100
		net += line
	}
	return net, net * 19 / 100
}

func (in invoice) layout() string {
	sort.Slice(in.positions, func(i, j int) bool { return in.positions[i].article < in.positions[j].article })
	var page strings.Builder
	for _, p := range in.positions {
		page.WriteString(p.article)
		page.WriteString(strings.Repeat(" ", max(1, 16-len(p.article))))
		page.WriteString(strconv.FormatInt(p.cents, 10))
		page.WriteByte('\n')
	}
	net, tax := in.total()
	fmt.Fprintf(&page, "invoice %d: net %d, tax %d\n", in.number, net, tax)
	return page.String()
}

// checksum is what the archive wants under every page.
func checksum(page string) uint64 {
	var sum uint64 = 14695981039346656037
	for round := 0; round < 24; round++ {
		for i := 0; i < len(page); i++ {
			sum = (sum ^ uint64(page[i])) * 1099511628211
		}
	}
	return sum
}

func show(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.PathValue("number"))
	if err != nil {
		http.Error(w, "no such invoice", http.StatusNotFound)
		return
	}
	page := draw(number).layout()
	fmt.Fprintf(w, "%s%016x\n", page, checksum(page))
}

// confine puts the process into a control group of its own, and returns what
// takes it out again.
func confine(name string, quota int) func() {
	const root = "/sys/fs/cgroup/cpu"
	group := filepath.Join(root, name)
	_ = os.Mkdir(group, 0o755)
	self := []byte(strconv.Itoa(os.Getpid()))
	for file, text := range map[string]string{"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": strconv.Itoa(quota)} {
		if err := os.WriteFile(filepath.Join(group, file), []byte(text), 0); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(group, "cgroup.procs"), self, 0); err != nil {
		log.Fatal(err)
	}
	return func() {
		_ = os.WriteFile(filepath.Join(root, "cgroup.procs"), self, 0)
		_ = os.Remove(group)
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	release := confine("invoice-quota", 40000)
	defer release()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /invoices/{number}", show)
	mux.HandleFunc("GET /ready", func(http.ResponseWriter, *http.Request) {})
	server := &http.Server{Addr: "127.0.0.1:9300", Handler: mux}
	go func() { <-ctx.Done(); _ = server.Close() }()
	log.Print(server.ListenAndServe())
}
