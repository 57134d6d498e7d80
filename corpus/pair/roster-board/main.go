// Command roster-board shows ten days' duty roster. It asks for each nurse's
// shifts separately, and describes every shift at length in JSON.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

type shift struct {
	Day    int               `json:"day"`
	Ward   string            `json:"ward"`
	Labels map[string]string `json:"labels"`
	Hours  []float64         `json:"hours"`
	Parts  []part            `json:"parts"`
}

type part struct {
	From, To string
	Paid     bool
	Factor   float64
}

type roster struct {
	pool   *pgxpool.Pool
	legend map[string]string
}

func (r *roster) shifts(ctx context.Context, nurse int) ([]shift, error) {
	rows, err := r.pool.Query(ctx, "SELECT day, ward FROM shifts WHERE nurse = $1", nurse)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (s shift, err error) {
		s.Labels, s.Hours = r.legend, []float64{6, 7.5, 8.25}
		s.Parts = []part{{"06:00", "10:00", true, 1.25}, {"10:15", "14:00", true, 1.5}, {"14:00", "14:30", false, 0}}
		return s, row.Scan(&s.Day, &s.Ward)
	})
}

func (r *roster) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	ward, _ := strconv.Atoi(req.PathValue("ward"))
	board := make(map[int][]shift, 8)
	for nurse := ward * 8; nurse < ward*8+8; nurse++ {
		list, err := r.shifts(req.Context(), nurse)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		board[nurse] = list
	}
	_ = json.NewEncoder(w).Encode(board)
}

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL")+"&pool_max_conns=10")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := pool.Exec(ctx, `CREATE TABLE shifts AS SELECT n % 400 AS nurse, n / 400 AS day, 'ward ' || n % 9 AS ward FROM generate_series(0, 3999) n;
		CREATE INDEX ON shifts (nurse); ANALYZE shifts`); err != nil {
		log.Fatal(err)
	}
	legend := map[string]string{"early": "06:00 to 14:30", "late": "13:30 to 22:00", "night": "21:30 to 06:30", "stand-by": "by telephone"}
	http.Handle("GET /wards/{ward}", &roster{pool, legend})
	http.HandleFunc("GET /", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9523", nil))
}
