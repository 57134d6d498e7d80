// Command voyage-brief puts together what the crew of a coaster needs before it
// leaves: weather, tide, berth, pilot and notices.
package main

import (
	"net/http"
	"os"
	"time"

	"github.com/sirupsen/logrus"

	"github.com/redline-go/redline/corpus/sick/voyage-brief/internal/briefing"
	"github.com/redline-go/redline/corpus/sick/voyage-brief/internal/ports"
	"github.com/redline-go/redline/corpus/sick/voyage-brief/internal/web"
)

func main() {
	log := logrus.New()
	log.SetFormatter(&logrus.JSONFormatter{})
	client := ports.New(os.Getenv("BACKEND_URL"), 2*time.Second)
	desk := briefing.New(log,
		client.Section("weather"), client.Section("tide"), client.Section("berth"), client.Section("pilot"), client.Section("notices"))
	var b web.Briefer = desk
	if os.Getenv("FIXED") == "1" {
		b = briefing.Together{Desk: desk}
	}
	if err := http.ListenAndServe("127.0.0.1:23612", web.Routes(b, log)); err != nil {
		log.WithError(err).Fatal("listen")
	}
}
