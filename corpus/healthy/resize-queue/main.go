// Command resize-queue takes orders for shop pictures and draws them in the
// background. Its few workers keep up with what comes in.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"runtime"

	"github.com/julienschmidt/httprouter"

	"github.com/redline-go/redline/corpus/healthy/resize-queue/picture"
	"github.com/redline-go/redline/corpus/healthy/resize-queue/queue"
)

type wish struct {
	Article string `json:"article"`
	Side    int    `json:"side"`
}

func main() {
	done := queue.NewResults(2000)
	q := queue.Start(runtime.NumCPU(), 256, func(j queue.Job) {
		done.Put(j.ID, picture.Thumbnail(j.Article, j.Side))
	})
	r := httprouter.New()
	r.POST("/pictures", func(w http.ResponseWriter, r *http.Request, _ httprouter.Params) {
		var want wish
		if err := json.NewDecoder(r.Body).Decode(&want); err != nil || want.Side < 8 || want.Side > 96 {
			http.Error(w, "article and side, 8 to 96", http.StatusBadRequest)
			return
		}
		id, ok := q.Offer(want.Article, want.Side)
		if !ok {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "the queue is full", http.StatusServiceUnavailable)
			return
		}
		w.WriteHeader(http.StatusAccepted)
		_ = json.NewEncoder(w).Encode(map[string]any{"id": id, "waiting": q.Waiting()})
	})
	r.GET("/queue", func(w http.ResponseWriter, _ *http.Request, _ httprouter.Params) {
		_ = json.NewEncoder(w).Encode(map[string]int{"waiting": q.Waiting(), "done": done.Len()})
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:21331", r))
}
