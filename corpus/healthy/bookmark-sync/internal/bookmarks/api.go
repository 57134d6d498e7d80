// Package bookmarks is the API that browsers sync with.
package bookmarks

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/mux"

	"github.com/redline-go/redline/corpus/healthy/bookmark-sync/internal/sqlitedb"
)

// Querier is what the API needs of the database.
type Querier interface {
	ListBookmarks(ctx context.Context, owner int64) ([]sqlitedb.Bookmark, error)
	GetBookmark(ctx context.Context, id int64) (sqlitedb.Bookmark, error)
	PutBookmark(ctx context.Context, arg sqlitedb.PutBookmarkParams) (int64, error)
}

// Routes returns the handlers over q.
func Routes(q Querier) http.Handler {
	r := mux.NewRouter()
	r.HandleFunc("/owners/{owner:[0-9]+}/bookmarks", answer(func(r *http.Request) (any, error) {
		return q.ListBookmarks(r.Context(), number(r, "owner"))
	})).Methods(http.MethodGet)
	r.HandleFunc("/owners/{owner:[0-9]+}/bookmarks", answer(func(r *http.Request) (any, error) {
		var in struct{ URL, Title string }
		if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 8<<10)).Decode(&in); err != nil {
			return nil, err
		}
		id, err := q.PutBookmark(r.Context(), sqlitedb.PutBookmarkParams{
			Owner: number(r, "owner"), URL: in.URL, Title: in.Title, SavedAt: time.Now().Unix(),
		})
		return map[string]int64{"id": id}, err
	})).Methods(http.MethodPost)
	r.HandleFunc("/bookmarks/{id:[0-9]+}", answer(func(r *http.Request) (any, error) {
		return q.GetBookmark(r.Context(), number(r, "id"))
	})).Methods(http.MethodGet)
	r.HandleFunc("/status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	return r
}

func number(r *http.Request, name string) int64 {
	n, _ := strconv.ParseInt(mux.Vars(r)[name], 10, 64)
	return n
}

func answer(f func(*http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := f(r)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			http.NotFound(w, r)
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(v)
		}
	}
}
