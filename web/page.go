package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"

	"github.com/redline-go/redline/notation"
)

// Each page's script and the style of all are built from web/page/src by
// web/page/build.sh and committed, so that building redline needs no node.
//
//go:generate sh page/build.sh
var (
	//go:embed page/dist/report.js
	reportScript string
	//go:embed page/dist/page.css
	pageStyle string
)

// page is one self-contained page.
type page struct {
	title    string
	script   string
	data     any    // what the script reads, as JSON
	later    []part // what it reads when the first of it is shown
	fallback []byte // text for a browser that runs no script
	connects bool   // the page asks the server that it came from
}

// part is some of a page's data in an element of its own, behind the script.
type part struct {
	name string
	data any
}

// write writes the page whole. Its errors are those of w and of figures that JSON cannot
// hold.
func (p page) write(w io.Writer) error {
	payload, err := pack(p.data)
	if err != nil {
		return err
	}
	code, err := packText(p.script)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	connect := "'none'"
	if p.connects {
		connect = "'self'"
	}
	fmt.Fprintf(
		&b,
		pageHead,
		connect,
		hashOf(loader),
		hashOf(p.script),
		hashOf(pageStyle),
		html.EscapeString(notation.Clean(p.title)),
		pageStyle,
	)
	if len(p.fallback) > 0 {
		fmt.Fprintf(&b, "<pre>%s</pre>\n", html.EscapeString(string(p.fallback)))
	}
	fmt.Fprintf(&b, pageTail, payload, code, loader)
	for _, l := range p.later {
		packed, err := pack(l.data)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "<script type=\"application/json\" id=\"later-%s\" data-encoding=\"gzip+base64\">%s</script>\n", l.name, packed)
	}
	b.WriteString("</body>\n</html>\n")
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// loader unpacks the page's script and hands it to the browser, which runs it by its hash,
// as it does the loader: a string of the record that found its way into markup after all
// would still not run. Packed, the script takes 55 KB of a page instead of 125.
const loader = `(async()=>{const t=document.getElementById("code").textContent;` +
	`const a=atob(t),b=new Uint8Array(a.length);for(let i=0;i<a.length;i++)b[i]=a.charCodeAt(i);` +
	`const s=document.createElement("script");` +
	`s.textContent=await new Response(new Blob([b]).stream().pipeThrough(new DecompressionStream("gzip"))).text();` +
	`document.body.append(s)})().catch(e=>{document.getElementById("app").textContent=` +
	`"This page cannot be shown: the browser is too old. "+e})`

// Data and script are base64 and cannot end their elements.
const (
	pageHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; connect-src %s; script-src '%s' '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>%s – redline</title>
<style>%s</style>
</head>
<body>
<div id="app"></div>
<noscript>
`
	pageTail = `</noscript>
<script type="application/json" id="data" data-encoding="gzip+base64">%s</script>
<script type="text/plain" id="code">%s</script>
<script>%s</script>
`
)

// pack returns v as JSON, gzipped and in base64.
func pack(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("write page data: %w", err)
	}
	return packText(string(data))
}

// pageLevel costs a run a third of the CPU that the best compression takes, which is 95 ms, for a page that is
// 1 % larger. That CPU is the generator's too: a short run notices it.
const pageLevel = 7

// packText returns text gzipped and in base64.
func packText(text string) (string, error) {
	var b bytes.Buffer
	zip, err := gzip.NewWriterLevel(&b, pageLevel)
	if err == nil {
		_, err = io.WriteString(zip, text)
	}
	if err == nil {
		err = zip.Close()
	}
	if err != nil {
		return "", fmt.Errorf("compress page: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
