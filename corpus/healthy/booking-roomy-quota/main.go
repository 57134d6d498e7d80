// Command booking-roomy-quota looks for free rooms, in a container with a quota
// of one and a half CPUs of which it uses a tenth.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

const (
	controller = "/sys/fs/cgroup/cpu"
	own        = controller + "/booking-roomy-quota"
)

type room struct {
	Number int    `json:"number"`
	Beds   int    `json:"beds"`
	From   string `json:"from"`
}

type house map[int][]room // by number of beds

func build() house {
	h := house{}
	for n := range 300 {
		beds := n%4 + 1
		h[beds] = append(h[beds], room{100 + n, beds, time.Date(2026, 1, 1+n%365, 0, 0, 0, 0, time.UTC).Format(time.DateOnly)})
	}
	return h
}

func (h house) free(w http.ResponseWriter, r *http.Request) {
	beds, _ := strconv.Atoi(r.PathValue("beds"))
	rooms := h[beds]
	_ = json.NewEncoder(w).Encode(rooms[:min(12, len(rooms))])
}

func check(errs ...error) {
	for _, err := range errs {
		if err != nil {
			log.Fatal(err)
		}
	}
}

func main() {
	_ = os.Mkdir(own, 0o755)
	check(os.WriteFile(own+"/cpu.cfs_quota_us", []byte("150000"), 0), os.WriteFile(own+"/cgroup.procs", []byte("0"), 0))
	go func() {
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		<-c
		check(os.WriteFile(controller+"/cgroup.procs", []byte("0"), 0), os.Remove(own))
		os.Exit(0)
	}()
	http.HandleFunc("GET /free/{beds}", build().free)
	check(http.ListenAndServe("127.0.0.1:9321", nil))
}
