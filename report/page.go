package report

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
	"github.com/redline-go/redline/record"
)

// The page's script and style are built from report/html/src by
// report/html/build.sh and committed, so that building redline needs no node.
//
//go:generate sh html/build.sh
var (
	//go:embed html/dist/page.js
	pageScript string
	//go:embed html/dist/page.css
	pageStyle string
)

// HTML writes the report of a bundle and its summary as one page that opens
// offline: it asks the network for nothing, and its content security policy
// would not let it. Parts that a bundle lacks (a run without trace has no anatomy) are
// left out and named on the page; the only errors are those of w
// and of figures that JSON cannot hold.
func HTML(w io.Writer, rec *record.Record, s *record.Summary) error {
	data, err := collect(rec, s)
	if err != nil {
		return err
	}
	payload, err := pack(data)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, pageHead, hashOf(pageScript), hashOf(pageStyle), html.EscapeString(notation.Clean(data.Run.ID)), pageStyle)
	if err := fallback(&b, data.Summary); err != nil {
		return err
	}
	fmt.Fprintf(&b, pageTail, payload, pageScript)
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// The script runs by its hash, so a string of the record that found its way
// into markup after all would still not run. The data is base64 and cannot end
// its script element.
const (
	pageHead = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; form-action 'none'">
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
<script>%s</script>
</body>
</html>
`
)

// fallback writes the text summary for a reader whose browser runs no script.
func fallback(b *bytes.Buffer, s *record.Summary) error {
	var text bytes.Buffer
	if err := Text(&text, s, TextOptions{All: true, Width: 100}); err != nil {
		return err
	}
	fmt.Fprintf(b, "<pre>%s</pre>\n", html.EscapeString(text.String()))
	return nil
}

// pack returns v as JSON, gzipped and in base64.
func pack(v any) (string, error) {
	var b bytes.Buffer
	zip, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", fmt.Errorf("compress page data: %w", err)
	}
	if err := json.NewEncoder(zip).Encode(v); err != nil {
		return "", fmt.Errorf("write page data: %w", err)
	}
	if err := zip.Close(); err != nil {
		return "", fmt.Errorf("compress page data: %w", err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

func hashOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
