// Command quote-noisy-neighbour prices insurances. Beside it on the host, and not
// below it, a batch job of somebody else's takes most of the CPUs.
package main

import (
	"fmt"
	"log"
	"math"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/go-chi/chi/v5"
)

// batch is the neighbour: it computes for a while and ends by itself.
func batch(until time.Time) {
	var all sync.WaitGroup
	for range runtime.NumCPU() {
		all.Go(func() {
			x := 1.0
			for time.Now().Before(until) {
				for range 1 << 16 {
					x = math.Sqrt(x + 2)
				}
			}
			_ = x
		})
	}
	all.Wait()
}

// detach starts a neighbour whose parent ends at once, so that it is nobody's child.
func detach() error {
	starter := exec.Command("/proc/self/exe", "starter")
	starter.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return starter.Run()
}

func premium(age, sum int) float64 {
	total := 0.0
	for year := age; year < 100; year++ {
		mortality := 1 - math.Exp(-0.00022*math.Exp(0.088*float64(year)))
		for month := range 12 {
			total += mortality * float64(sum) * math.Pow(1.001, -float64((year-age)*12+month))
		}
	}
	return total
}

func main() {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "starter":
			job := exec.Command("/proc/self/exe", "batch")
			if err := job.Start(); err != nil {
				log.Fatal(err)
			}
			return
		case "batch":
			batch(time.Now().Add(9 * time.Second))
			return
		}
	}
	if err := detach(); err != nil {
		log.Fatal(err)
	}
	r := chi.NewRouter()
	r.Get("/premium/{age}/{sum}", func(w http.ResponseWriter, r *http.Request) {
		age, _ := strconv.Atoi(chi.URLParam(r, "age"))
		sum, _ := strconv.Atoi(chi.URLParam(r, "sum"))
		fmt.Fprintf(w, "%.2f\n", premium(age, sum))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9318", r))
}
