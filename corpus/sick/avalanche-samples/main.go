// Command avalanche-samples rates snow profiles that stations send.
package main

import (
	"log"
	"net/http"
	"os"

	"github.com/redline-go/redline/corpus/sick/avalanche-samples/httpd"
	"github.com/redline-go/redline/corpus/sick/avalanche-samples/snow"
)

func main() {
	var each snow.Runner = snow.Parallel{}
	if os.Getenv("FIXED") == "1" {
		each = snow.InOrder{}
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:23411", httpd.New(snow.NewRater(each))))
}
