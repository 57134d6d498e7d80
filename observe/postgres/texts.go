package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/observe/postgres/server"
	"github.com/redline-go/redline/redact"
)

// maxText is the maximum length, in characters, of a kept text.
const maxText = 64 << 10

// fetchTexts reads the texts of statements that have none yet, and so once per
// statement. Here our own are recognised by their comment, and left out from then
// on.
func (w *watch) fetchTexts(ctx context.Context) error {
	var missing []int64
	for id, s := range w.ledger.followed {
		if s.text == "" && !w.ledger.own[id] {
			missing = append(missing, id)
		}
	}
	if len(missing) == 0 || w.session.Queries.Texts == "" {
		return nil
	}
	err := w.session.Ask(ctx, server.Query{SQL: w.session.Queries.Texts, Args: []any{w.session.DB, missing,
		maxText + 1}, Read: func(rows pgx.Rows) error {
		for rows.Next() {
			var id int64
			var text *string
			if err := rows.Scan(&id, &text); err != nil {
				return err
			}
			if text != nil {
				w.ledger.named(id, *text)
				if known := w.subject.Statement; known != nil && !w.ledger.own[id] {
					known(strconv.FormatInt(id, 10), kept(*text))
				}
			}
		}
		return rows.Err()
	}})
	if err != nil {
		return fmt.Errorf("read the texts of statements: %w", err)
	}
	return nil
}

// named gives a followed statement its text.
func (l *ledger) named(id int64, text string) {
	if strings.Contains(text, server.Marker) {
		if l.own == nil {
			l.own = map[int64]bool{}
		}
		l.own[id] = true
		return
	}
	if s := l.followed[id]; s != nil {
		s.text = text
	}
}

// notKept ends the kept part of a text that may hold secrets.
const notKept = " (text not kept: it may contain secrets)"

// kept returns the part of a statement's text that may be kept. The server replaces
// the constants of queries by parameters, but not those of utility statements,
// whose texts may hold passwords (ALTER ROLE, CREATE SUBSCRIPTION): of these only
// the command is kept. A query whose entry was evicted while it ran keeps its
// constants too, so constants are hidden in every text.
func kept(text string) string {
	switch command(text) {
	case "select", "insert", "update", "delete", "merge", "with", "values", "table",
		"begin", "start", "commit", "end", "rollback", "savepoint", "release", "fetch", "close",
		"vacuum", "analyze", "truncate", "lock", "discard", "deallocate", "listen", "unlisten":
		text, _ = redact.SQL(text)
		return text
	}
	words := strings.Fields(withoutComments(text))
	known := []string{}
	for _, word := range words[:min(2, len(words))] {
		if strings.Trim(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz") != "" {
			break
		}
		known = append(known, strings.ToUpper(word))
	}
	return strings.TrimSpace(strings.Join(known, " ") + notKept)
}

// command is the first word of a text, in lower case.
func command(text string) string {
	text = strings.TrimLeft(withoutComments(text), "( \t\r\n")
	end := strings.IndexFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') })
	if end >= 0 {
		text = text[:end]
	}
	return strings.ToLower(text)
}

// withoutComments removes leading comments and blanks. Block comments nest in SQL.
func withoutComments(text string) string {
	for {
		text = strings.TrimLeft(text, " \t\r\n")
		switch {
		case strings.HasPrefix(text, "--"):
			_, text, _ = strings.Cut(text, "\n")
		case strings.HasPrefix(text, "/*"):
			text = redact.AfterComment(text)
		default:
			return text
		}
	}
}
