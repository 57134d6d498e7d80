// Command museum-hours asks the office when a museum is open, and answers that. One middleware would cache the answers,
// but is switched off; another sets how long clients may keep theirs.
package main

import (
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

// CacheMiddleware keeps the answers if KEEP is set.
func CacheMiddleware(next http.Handler) http.Handler {
	keep, kept := os.Getenv("KEEP") != "", map[string][]byte{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key := r.Method + " " + r.URL.String(); keep && kept[key] != nil {
			w.Write(kept[key])
			return
		}
		next.ServeHTTP(w, r)
	})
}

// CacheControl lets clients keep answers for a minute.
func CacheControl(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "max-age=60")
		next.ServeHTTP(w, r)
	})
}

type office struct {
	client *http.Client
	url    string
}

func (o office) hours(w http.ResponseWriter, r *http.Request) {
	resp, err := o.client.Get(o.url + "/hours/" + r.PathValue("museum"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer resp.Body.Close()
	io.Copy(w, resp.Body)
}

func main() {
	o := office{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 5 * time.Second}, os.Getenv("BACKEND_URL")}
	http.Handle("GET /hours/{museum}", CacheMiddleware(CacheControl(http.HandlerFunc(o.hours))))
	http.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9791", nil))
}
