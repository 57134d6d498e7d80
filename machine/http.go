package machine

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// served runs work against a server of net/http on loopback that answers 200 with a short
// body.
func served(connections int, alive bool, work func(get func() error) error) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	body := []byte(`{"status":"ok"}` + "\n")
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(body) })}
	go server.Serve(listener) // until Close
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, DisableKeepAlives: !alive}}
	defer client.CloseIdleConnections()
	url := "http://" + listener.Addr().String() + "/"
	return work(func() error {
		answer, err := client.Get(url)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, answer.Body)
		answer.Body.Close()
		return err
	})
}

func httpRoundTrip(_ context.Context, _ *input, d time.Duration) (value float64, err error) {
	err = served(1, true, func(get func() error) error { value, err = medianOf(d, 50, get); return err })
	return value, err
}

func httpFresh(_ context.Context, _ *input, d time.Duration) (value float64, err error) {
	err = served(1, false, func(get func() error) error { value, err = medianOf(d, 20, get); return err })
	return value, err
}

// medianOf calls work until the time is over, and returns the median of its nanoseconds
// after some calls that only warm up.
func medianOf(d time.Duration, warm int, work func() error) (float64, error) {
	for range warm {
		if err := work(); err != nil {
			return 0, err
		}
	}
	var times []float64
	for begun := time.Now(); time.Since(begun) < d || len(times) < 5; {
		before := time.Now()
		if err := work(); err != nil {
			return 0, err
		}
		times = append(times, float64(time.Since(before)))
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

func httpThroughput(_ context.Context, _ *input, d time.Duration) (value float64, err error) {
	const connections = 8
	err = served(connections, true, func(get func() error) error {
		counts, errs := make([]int, connections), make([]error, connections)
		for range 20 {
			if err := get(); err != nil {
				return err
			}
		}
		var all sync.WaitGroup
		begun := time.Now()
		for i := range connections {
			all.Go(func() {
				for time.Since(begun) < d && errs[i] == nil {
					errs[i] = get()
					counts[i]++
				}
			})
		}
		all.Wait()
		took := time.Since(begun).Seconds()
		sum := 0
		for i := range counts {
			if errs[i] != nil {
				return errs[i]
			}
			sum += counts[i]
		}
		value = float64(sum) / took
		return nil
	})
	return value, err
}
