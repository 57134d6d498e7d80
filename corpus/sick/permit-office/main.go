// Command permit-office checks permits with the register of another authority.
// It reads the permit, and keeps the connection for as long as the register takes.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/gorilla/mux"
	_ "github.com/lib/pq"
)

type office struct {
	db       *sql.DB
	register string
	client   *http.Client
}

func (o *office) valid(ctx context.Context, number string) (bool, error) {
	conn, err := o.db.Conn(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Close()
	var holder string
	if err := conn.QueryRowContext(ctx, "SELECT holder FROM permits WHERE number = $1", number).Scan(&holder); err != nil {
		return false, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.register+"/holders/"+holder, nil)
	if err != nil {
		return false, err
	}
	res, err := o.client.Do(req)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	return res.StatusCode == http.StatusOK, err
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

func main() {
	o := &office{db: must(sql.Open("postgres", os.Getenv("DATABASE_URL"))), register: os.Getenv("BACKEND_URL")}
	o.client = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	o.db.SetMaxOpenConns(4)
	o.db.SetMaxIdleConns(4)
	must(o.db.Exec("CREATE TABLE permits AS SELECT 'P' || n AS number, 'h' || n % 900 AS holder FROM generate_series(1, 5000) n"))
	must(o.db.Exec("CREATE UNIQUE INDEX ON permits (number)"))
	r := mux.NewRouter()
	r.HandleFunc("/permits/{number}", func(w http.ResponseWriter, r *http.Request) {
		ok, err := o.valid(r.Context(), mux.Vars(r)["number"])
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, ok)
	})
	r.HandleFunc("/healthz", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9501", r))
}
