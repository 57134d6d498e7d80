package web

import (
	_ "embed"
	"html"
	"io"
	"strings"

	"github.com/redline-go/redline/notation"
	"github.com/redline-go/redline/notation/inert"
)

//go:embed page/dist/shelf.js
var shelfScript string

// Shelf writes the page that lists saved runs; web/shelf makes the list. Served, it asks
// its own server for runs.json every few seconds, and nobody else for anything.
func Shelf(w io.Writer, dir string, runs any) error {
	data := map[string]any{"dir": notation.Clean(dir), "runs": runs}
	return page{title: "Runs", script: shelfScript, data: data, connects: true}.write(w)
}

// Notice writes a page that says one thing, such as why a run cannot be shown.
func Notice(w io.Writer, title, text string) error {
	return plain(w, "failure", title, `<p>`+html.EscapeString(notation.Clean(text))+`</p><p><a href="/">Back to the start</a></p>`)
}

// Text writes a page of a text as the command line prints it.
func Text(w io.Writer, title, text string) error {
	var shown strings.Builder
	if _, err := io.WriteString(inert.NewWriter(&shown, false), strings.Trim(text, "\n")); err != nil { // columns stay aligned
		return err
	}
	return plain(w, "printed", title, `<pre class="scroll" tabindex="0">`+html.EscapeString(shown.String())+`</pre>`)
}

// plain writes a page without a script; body is HTML.
func plain(w io.Writer, class, title, body string) error {
	title = html.EscapeString(notation.Clean(title))
	_, err := io.WriteString(w, `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '`+hashOf(pageStyle)+`'; img-src data:">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,"><title>`+title+`</title><style>`+pageStyle+`</style></head>
<body><main class="`+class+`"><h1>`+title+`</h1>`+body+`</main></body></html>
`)
	return err
}

//go:embed page/dist/live.js
var liveScript string

// Live writes the page of a run in progress, which asks its own server for what happens. viewer
// names this page to the server, and secret proves that a button was pressed on it.
func Live(w io.Writer, title, viewer, secret string) error {
	data := map[string]string{"title": notation.Clean(title), "viewer": viewer, "secret": secret}
	fallback := []byte("The page of a run that goes on needs JavaScript. The terminal shows the run as well.")
	return page{title: title, script: liveScript, data: data, connects: true, fallback: fallback}.write(w)
}
