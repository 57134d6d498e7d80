package ceiling

import (
	"context"
	"encoding/json"
	"os"

	"github.com/jackc/pgx/v5" // PostgreSQL's protocol

	"github.com/redline-go/redline/redact"
)

// order is a document like those that services exchange: some 700 bytes of texts and numbers.
type order struct {
	ID       int64             `json:"id"`
	Customer string            `json:"customer"`
	Items    []item            `json:"items"`
	Total    float64           `json:"total"`
	Paid     bool              `json:"paid"`
	Labels   map[string]string `json:"labels"`
}

type item struct {
	SKU      string  `json:"sku"`
	Quantity int     `json:"quantity"`
	Price    float64 `json:"price"`
}

func (m *Measured) json(ctx context.Context) error {
	document := order{ID: 7_000_000_123, Customer: "Ada Lovelace, 12 St James's Square, London", Total: 123.45, Paid: true,
		Labels: map[string]string{"channel": "web", "campaign": "spring"}}
	for i := range 12 {
		document.Items = append(document.Items, item{"SKU-000123-XL", i + 1, 9.99})
	}
	text, err := json.Marshal(document)
	if err != nil {
		return err
	}
	n, err := rate(ctx, m.CPUs, repeat(func() error {
		var into order
		if err := json.Unmarshal(text, &into); err != nil {
			return err
		}
		_, err := json.Marshal(into)
		return err
	}))
	m.JSON = n * float64(len(text))
	return err
}

// page is what a small commit writes.
const page = 4096

// fsyncs writes to the disk of the working directory.
func (m *Measured) fsyncs(ctx context.Context) error {
	file, err := os.CreateTemp(".", ".redline-fsync-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	content := make([]byte, page)
	m.Fsyncs, err = rate(ctx, 1, repeat(func() error {
		if _, err := file.WriteAt(content, 0); err != nil {
			return err
		}
		return file.Sync()
	}))
	return err
}

// statements runs the cheapest statement of a database, over one connection more than
// there are CPUs.
func (m *Measured) statements(ctx context.Context, dsn string) (err error) {
	if dsn == "" {
		return nil
	}
	m.Statements, err = rate(ctx, m.CPUs+1, func(ctx context.Context) (worker, error) {
		conn, err := pgx.Connect(ctx, dsn)
		if err != nil {
			return worker{}, &hidden{err}
		}
		var one int
		return worker{
			work: func() error { return conn.QueryRow(ctx, "select 1").Scan(&one) },
			end:  func() { _ = conn.Close(ctx) },
		}, nil
	})
	return err
}

// hidden is an error whose text may hold a password.
type hidden struct{ error }

func (h *hidden) Error() string { return redact.Text(h.error.Error()) }
