// Command notice-redaction takes personal data out of public notices of councils.
package main

import (
	"log/slog"
	"os"

	"github.com/redline-go/redline/corpus/sick/notice-redaction/internal/api"
	"github.com/redline-go/redline/corpus/sick/notice-redaction/internal/redact"
	"github.com/redline-go/redline/corpus/sick/notice-redaction/internal/rules"
)

func main() {
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	book := rules.Default()
	var source redact.Source = redact.FromBook(book)
	if os.Getenv("FIXED") == "1" {
		source = redact.Remember(source)
	}
	if err := api.New(log, source).Run("127.0.0.1:23600"); err != nil {
		log.Error("listen", "err", err)
		os.Exit(1)
	}
}
