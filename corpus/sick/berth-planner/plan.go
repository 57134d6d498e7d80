package main

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
)

type planner interface {
	plan(ctx context.Context, quay int) ([]berth, error)
}

type eachBerth struct{ store }

func (e *eachBerth) plan(ctx context.Context, quay int) ([]berth, error) {
	list, err := e.berths(ctx, quay)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Next, err = e.arrivals(ctx, list[i].ID); err != nil {
			return nil, err
		}
	}
	return list, nil
}

type allBerths struct{ store }

func (a *allBerths) plan(ctx context.Context, quay int) ([]berth, error) {
	list, err := a.berths(ctx, quay)
	if err != nil {
		return nil, err
	}
	ids, place := make([]int, len(list)), make(map[int]int, len(list))
	for i, b := range list {
		ids[i], place[b.ID] = b.ID, i
	}
	next, err := a.arrivalsAtQuay(ctx, ids)
	for _, n := range next {
		b := &list[place[n.Berth]]
		b.Next = append(b.Next, n)
	}
	return list, err
}

func tooDeep(list []berth) (n int) {
	for _, b := range list {
		for _, a := range b.Next {
			if a.Draught+50 > b.Depth {
				n++
			}
		}
	}
	return n
}

func routes(p planner) http.Handler {
	var warned atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(strconv.FormatInt(warned.Load(), 10)))
	})
	mux.HandleFunc("GET /quays/{quay}/plan", func(w http.ResponseWriter, r *http.Request) {
		quay, err := strconv.Atoi(r.PathValue("quay"))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		list, err := p.plan(r.Context(), quay)
		if err != nil {
			slog.WarnContext(r.Context(), "plan", "quay", quay, "err", err)
			http.Error(w, "no plan", http.StatusInternalServerError)
			return
		}
		warned.Add(int64(tooDeep(list)))
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(list)
	})
	return mux
}
