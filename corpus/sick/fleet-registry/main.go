package main

import (
	"context"
	"log"
	"net/http"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redline-go/redline/corpus/sick/fleet-registry/db"
	"github.com/redline-go/redline/corpus/sick/fleet-registry/handlers"
	"github.com/redline-go/redline/corpus/sick/fleet-registry/services"
)

var migrations = []string{
	`DROP TABLE IF EXISTS fleet_vehicles`,
	`CREATE TABLE fleet_vehicles (id bigint PRIMARY KEY, plate text NOT NULL UNIQUE, model text NOT NULL, depot int NOT NULL, mileage bigint NOT NULL)`,
	`INSERT INTO fleet_vehicles SELECT n, 'FL-' || n, 'model ' || n % 40, n % 120, n * 37 % 90000 FROM generate_series(1, 60000) n`,
}

func main() {
	ctx := context.Background()
	config, err := pgxpool.ParseConfig(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	config.MaxConns = 20
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	if os.Getenv("FIXED") == "1" {
		migrations = append(migrations, `CREATE INDEX fleet_vehicles_plate ON fleet_vehicles (lower(plate))`)
	}
	for _, m := range append(migrations, `ANALYZE fleet_vehicles`) {
		if _, err := pool.Exec(ctx, m); err != nil {
			log.Fatal(err)
		}
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(http.ResponseWriter, *http.Request) {})
	handlers.NewVehicleHandler(services.NewVehicleService(services.NewVehicleRepository(db.New(pool)))).Routes(mux)
	log.Fatal(http.ListenAndServe("127.0.0.1:9824", mux))
}
