// Command warbler-atlas answers where warblers were heard.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/warbler-atlas/internal/api"
	"github.com/redline-go/redline/corpus/sick/warbler-atlas/internal/atlas"
	"github.com/redline-go/redline/corpus/sick/warbler-atlas/internal/tuning"
)

func main() {
	profile := tuning.Profiles["small-pod"]
	if os.Getenv("FIXED") == "1" {
		profile = tuning.Profiles["default"]
	}
	profile.Apply()
	log.Fatal(http.ListenAndServe("127.0.0.1:23423", api.New(atlas.Load(240000))))
}
