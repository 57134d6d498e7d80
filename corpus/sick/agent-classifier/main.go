// Command agent-classifier tells browsers, crawlers and apps apart by their user
// agent, with a list of expressions that are tried in turn.
package main

import (
	"log"
	"net/http"
	"regexp"

	"github.com/julienschmidt/httprouter"
)

type family struct {
	name string
	re   *regexp.Regexp
}

var families = []family{
	{"crawler", regexp.MustCompile(`(?i)(googlebot|bingbot|yandex|baidu|duckduck|slurp|ahrefs|semrush)[^;]*/(\d+)\.?(\d+)?`)},
	{"monitor", regexp.MustCompile(`(?i)(pingdom|uptime|statuscake|newrelic|datadog).*(synthetic|probe|check)`)},
	{"library", regexp.MustCompile(`(?i)^(curl|wget|python-requests|okhttp|java|go-http-client|axios)/[\d.]+`)},
	{"app", regexp.MustCompile(`(?i)(\w+)-build/(\d{5,})\s+\((ios|android)`)},
	{"tv", regexp.MustCompile(`(?i)(smart-?tv|hbbtv|netcast|tizen.*tv|webos).*version`)},
}

func classify(agent string) string {
	for _, f := range families {
		if f.re.MatchString(agent) {
			return f.name
		}
	}
	return "browser"
}

func main() {
	r := httprouter.New()
	r.GET("/classify", func(w http.ResponseWriter, req *http.Request, _ httprouter.Params) {
		w.Write([]byte(classify(req.UserAgent())))
	})
	r.GET("/healthz", func(http.ResponseWriter, *http.Request, httprouter.Params) {})
	log.Fatal(http.ListenAndServe("127.0.0.1:9704", r))
}
