// Package receipt fetches sealed receipts from the till of the tax office.
package receipt

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"text/template"
	"time"

	"github.com/redline-go/redline/corpus/sick/ski-rental/store"
)

var page = template.Must(template.New("receipt").Funcs(template.FuncMap{
	"money": func(c int64) string { return fmt.Sprintf("%d.%02d EUR", c/100, c%100) },
}).Parse(`SKI RENTAL
{{.Model.Name}} for {{.Rental.Guest}}
{{.Rental.Days}} days of {{money .Model.Cents}}
total {{money .Rental.Cents}}
`))

// Till is the till of the tax office, which must see a receipt before it counts.
type Till struct {
	url  string
	http *http.Client
}

// NewTill makes a till at base.
func NewTill(base string) *Till {
	return &Till{url: base + "/till/seal", http: &http.Client{Timeout: 3 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// Render makes a receipt and has it sealed.
func (t *Till) Render(m store.Model, r store.Rental) ([]byte, string, error) {
	var b bytes.Buffer
	if err := page.Execute(&b, map[string]any{"Model": m, "Rental": r}); err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.url, bytes.NewReader(b.Bytes()))
	if err != nil {
		return nil, "", err
	}
	resp, err := t.http.Do(req)
	if err != nil {
		return nil, "", fmt.Errorf("till: %w", err)
	}
	defer resp.Body.Close()
	var answer struct{ State, Note string }
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<14)).Decode(&answer); err != nil {
		return nil, "", fmt.Errorf("till: %w", err)
	}
	sum := sha256.Sum256(append(b.Bytes(), answer.Note...))
	return b.Bytes(), hex.EncodeToString(sum[:8]), nil
}
