// Command podcast-plays counts plays of episodes, each once per listener.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/podcast-plays/internal/api"
	"github.com/redline-go/redline/corpus/sick/podcast-plays/internal/plays"
)

func main() {
	newShelf := func() plays.Shelf { return &plays.List{} }
	if os.Getenv("FIXED") == "1" {
		newShelf = func() plays.Shelf { return plays.NewSet() }
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:23419", api.Router(plays.NewCounter(newShelf))))
}
