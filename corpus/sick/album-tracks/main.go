// Command album-tracks lists the albums of an artist with their tracks. It
// keeps them in SQLite, and asks for the tracks of one album after another.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"
)

const schema = `
CREATE TABLE albums (id INTEGER PRIMARY KEY, artist INTEGER NOT NULL, title TEXT NOT NULL);
CREATE TABLE tracks (id INTEGER PRIMARY KEY, album INTEGER NOT NULL, title TEXT NOT NULL);
CREATE INDEX albums_artist ON albums (artist);
CREATE INDEX tracks_album ON tracks (album);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 4000)
INSERT INTO albums SELECT i, i % 100, 'album ' || i FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 32000)
INSERT INTO tracks SELECT i, i % 4000, 'track ' || i FROM n;`

type album struct {
	ID     int      `json:"id"`
	Title  string   `json:"title"`
	Tracks []string `json:"tracks"`
}

type shelf struct{ db *sql.DB }

func (s shelf) albums(ctx context.Context, artist string) (list []album, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT id, title FROM albums WHERE artist = ?", artist)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var a album
		if err := rows.Scan(&a.ID, &a.Title); err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, rows.Err()
}

func (s shelf) tracks(ctx context.Context, a *album) error {
	rows, err := s.db.QueryContext(ctx, "SELECT title FROM tracks WHERE album = ?", a.ID)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var title string
		if err := rows.Scan(&title); err != nil {
			return err
		}
		a.Tracks = append(a.Tracks, title)
	}
	return rows.Err()
}

func (s shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	list, err := s.albums(r.Context(), r.PathValue("artist"))
	for i := range list {
		if err == nil {
			err = s.tracks(r.Context(), &list[i])
		}
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_ = json.NewEncoder(w).Encode(list)
}

func main() {
	dir, err := os.MkdirTemp("", "album-tracks-")
	if err != nil {
		log.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "music.db")+"?_pragma=journal_mode(wal)")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := db.Exec(schema); err != nil {
		log.Fatal(err)
	}
	http.Handle("GET /artists/{artist}", shelf{db})
	http.HandleFunc("GET /up", func(http.ResponseWriter, *http.Request) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9941", nil))
}
