package main

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
)

var schema = []string{
	`CREATE TABLE inbox_claims (id bigserial PRIMARY KEY, tenant text NOT NULL, adjuster int NOT NULL,
		subject text NOT NULL, cents bigint NOT NULL, state text NOT NULL)`,
	`INSERT INTO inbox_claims (tenant, adjuster, subject, cents, state)
		SELECT 'tenant-' || n / 200 % 5, n % 200, 'water damage ' || n, n * 13 % 90000, 'open'
		FROM generate_series(1, 10000) n`,
	`CREATE INDEX inbox_claims_adjuster ON inbox_claims (tenant, adjuster, id DESC)`,
	`ALTER TABLE inbox_claims ENABLE ROW LEVEL SECURITY`,
	`CREATE POLICY own ON inbox_claims USING (tenant = current_setting('app.tenant'))`,
	`ANALYZE inbox_claims`,
}

type middleware func(http.Handler) http.Handler

func chain(h http.Handler, all ...middleware) http.Handler {
	for i := len(all) - 1; i >= 0; i-- {
		h = all[i](h)
	}
	return h
}

func recovered(log *slog.Logger) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				if p := recover(); p != nil {
					log.Error("panic", "value", p, "path", r.URL.Path)
					http.Error(w, "internal", http.StatusInternalServerError)
				}
			}()
			next.ServeHTTP(w, r)
		})
	}
}

type sessionKey struct{}

type session struct {
	conn   *sql.Conn
	tenant string
}

func sessionOf(ctx context.Context) *session { return ctx.Value(sessionKey{}).(*session) }

// tenant gives each request a connection that sees the rows of its tenant only.
func tenant(db *sql.DB) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name := r.Header.Get("X-Tenant")
			conn, err := db.Conn(r.Context())
			if err != nil {
				http.Error(w, "unavailable", http.StatusServiceUnavailable)
				return
			}
			defer conn.Close()
			const set = `SELECT set_config('app.tenant', $1, false)`
			if _, err := conn.ExecContext(r.Context(), set, name); err != nil {
				http.Error(w, "tenant", http.StatusForbidden)
				return
			}
			ctx := context.WithValue(r.Context(), sessionKey{}, &session{conn: conn, tenant: name})
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}
