// Command gift-vouchers pays with the vouchers of a campaign.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"

	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

func connect(dsn string) (*gorm.DB, error) {
	db, err := gorm.Open(postgres.Open(dsn), &gorm.Config{
		Logger: logger.Default.LogMode(logger.Silent), SkipDefaultTransaction: true,
	})
	if err != nil {
		return nil, err
	}
	pool, err := db.DB()
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(24)
	pool.SetMaxIdleConns(24)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	if err := db.AutoMigrate(&Campaign{}, &Redemption{}); err != nil {
		return nil, err
	}
	for id := range int64(4) {
		if err := db.Create(&Campaign{ID: id + 1, Name: "autumn", Budget: 1 << 40}).Error; err != nil {
			return nil, err
		}
	}
	return db, nil
}

func main() {
	db, err := connect(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	desk := &Desk{db: db, partner: NewPartner(os.Getenv("BACKEND_URL")), early: os.Getenv("FIXED") != ""}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /up", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /campaigns/{id}/redeem", func(w http.ResponseWriter, r *http.Request) {
		id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
		var form struct {
			Code  string `json:"code"`
			Cents int64  `json:"cents"`
		}
		if err != nil || json.NewDecoder(http.MaxBytesReader(w, r.Body, 1024)).Decode(&form) != nil || form.Cents <= 0 {
			http.Error(w, "bad form", http.StatusBadRequest)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
		defer cancel()
		done, err := desk.Redeem(ctx, id, form.Code, form.Cents)
		switch {
		case errors.Is(err, ErrSpent), errors.Is(err, gorm.ErrRecordNotFound):
			http.Error(w, err.Error(), http.StatusConflict)
		case err != nil:
			log.Printf("redeem: %v", err)
			http.Error(w, "internal", http.StatusInternalServerError)
		default:
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(done)
		}
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9203", mux))
}
