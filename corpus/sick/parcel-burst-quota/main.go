// Command parcel-burst-quota quotes parcels. One request in forty plans a whole
// route; on average the CPU quota would do, but a few plans at once use it up,
// and whoever asks then stands still until the next period.
package main

import (
	"encoding/binary"
	"hash/crc32"
	"log"
	"math"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
)

const group = "/sys/fs/cgroup/cpu/parcel-burst-quota"

type depot struct{ lat, lon float64 }

type planner struct{ depots []depot }

func newPlanner(n int) *planner {
	p := &planner{}
	for i := range n {
		p.depots = append(p.depots, depot{47 + float64(i%80)/10, 6 + float64(i*37%90)/10})
	}
	return p
}

func (p *planner) nearest(from depot, visited []bool) (int, float64) {
	at, least := -1, math.Inf(1)
	for i, d := range p.depots {
		if visited[i] {
			continue
		}
		if far := math.Hypot(d.lat-from.lat, d.lon-from.lon); far < least {
			at, least = i, far
		}
	}
	return at, least
}

func (p *planner) tour(start depot) (length float64) {
	visited := make([]bool, len(p.depots))
	for range p.depots {
		next, far := p.nearest(start, visited)
		visited[next] = true
		length += far
		start = p.depots[next]
	}
	return length
}

func (p *planner) route(w http.ResponseWriter, r *http.Request) {
	zone, _ := strconv.Atoi(chi.URLParam(r, "zone"))
	length := p.tour(depot{48 + float64(zone)/100, 9})
	_, _ = w.Write(strconv.AppendFloat(nil, length, 'f', 2, 64))
}

func (p *planner) quote(w http.ResponseWriter, r *http.Request) {
	weight, _ := strconv.Atoi(chi.URLParam(r, "weight"))
	var box [8]byte
	binary.LittleEndian.PutUint64(box[:], uint64(weight))
	price := 390 + weight*12 + int(crc32.ChecksumIEEE(box[:])%50)
	_, _ = w.Write(strconv.AppendInt(nil, int64(price), 10))
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	_ = os.Mkdir(group, 0o755)
	must(os.WriteFile(group+"/cpu.cfs_quota_us", []byte("50000"), 0))
	must(os.WriteFile(group+"/cgroup.procs", []byte("0"), 0))
	leave := make(chan os.Signal, 1)
	signal.Notify(leave, syscall.SIGTERM)
	go func() {
		<-leave
		_ = os.WriteFile("/sys/fs/cgroup/cpu/cgroup.procs", []byte("0"), 0)
		_ = os.Remove(group)
		os.Exit(0)
	}()

	p := newPlanner(5400)
	r := chi.NewRouter()
	r.Use(middleware.Recoverer)
	r.Get("/quote/{weight}", p.quote)
	r.Get("/route/{zone}", p.route)
	must(http.ListenAndServe("127.0.0.1:9301", r))
}
