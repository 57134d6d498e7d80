// Command brand-assets serves logos and style sheets.
package main

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"log"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
)

//go:embed static
var files embed.FS

type asset struct {
	body      string
	tag, kind string
}

func read(dir fs.FS) (map[string]asset, error) {
	all := map[string]asset{}
	return all, fs.WalkDir(dir, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(dir, name)
		sum := sha256.Sum256(b)
		all[name] = asset{string(b), `"` + hex.EncodeToString(sum[:8]) + `"`, mime.TypeByExtension(path.Ext(name))}
		return err
	})
}

func main() {
	dir, err := fs.Sub(files, "static")
	if err != nil {
		log.Fatal(err)
	}
	assets, err := read(dir)
	if err != nil {
		log.Fatal(err)
	}
	r := chi.NewRouter()
	r.Get("/assets/*", func(w http.ResponseWriter, req *http.Request) {
		a, ok := assets[chi.URLParam(req, "*")]
		if !ok {
			http.NotFound(w, req)
			return
		}
		w.Header().Set("ETag", a.tag)
		w.Header().Set("Content-Type", a.kind)
		w.Header().Set("Cache-Control", "public, max-age=60")
		http.ServeContent(w, req, "", time.Time{}, strings.NewReader(a.body))
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9830", r))
}
