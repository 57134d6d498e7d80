package api

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/lab/gateway/internal/journal"
	"github.com/redline-go/redline/lab/gateway/internal/middleware"
)

// kind says what a route needs of the middleware.
type kind int

const (
	plain kind = iota // for operators: no user
	read              // shows a user's data
	write             // moves money
)

func (a *API) routes(e *gin.Engine) {
	limit := middleware.Limit(max(a.Workers, 1), a.fail)
	for _, r := range []struct {
		method, path string
		kind         kind
		handle       gin.HandlerFunc
	}{
		{http.MethodGet, "/healthz", plain, a.health},
		{http.MethodGet, "/metrics", plain, a.page},
		{http.MethodGet, "/api/v1/order", read, a.latest},
		{http.MethodGet, "/api/v1/balance", read, a.balance},
		{http.MethodPost, "/api/v1/orders", write, a.create},
		{http.MethodPost, "/api/v1/orders/:id/reverse", write, a.reverse},
	} {
		chain := a.everything(r.method, r.path)
		if a.Trimmed {
			chain = a.needed(r.method, r.path, r.kind)
		}
		if r.kind != plain {
			if a.Workers > 0 {
				chain = append(chain, limit)
			}
			chain = append(chain, middleware.Authenticate(a.Auth, a.fail), middleware.RateLimit(a.Rates, a.fail))
			if a.Spin > 0 {
				chain = append(chain, middleware.Spin(a.Spin))
			}
		}
		e.Handle(r.method, r.path, append(chain, r.handle)...)
	}
	e.NoRoute(func(c *gin.Context) { a.fail(c, http.StatusNotFound, 40400, "no such route") })
	e.NoMethod(func(c *gin.Context) { a.fail(c, http.StatusMethodNotAllowed, 40500, "no such method") })
}

// everything is the chain as such services have it: all of it, on every route,
// the health check included.
func (a *API) everything(method, path string) []gin.HandlerFunc {
	return []gin.HandlerFunc{
		middleware.Identify(a.Validate.ID),
		middleware.Log(a.Journal, a.Buffers),
		middleware.Recover(a.fail, a.panicked),
		middleware.CORS(),
		middleware.SecureHeaders(),
		a.checkAddress,
		middleware.Audit(a.Trail, method+" "+path),
		middleware.DigestBodies(a.Buffers, a.fail),
		a.metrics.Labeled(path),
	}
}

// needed is the chain that a route of this kind needs.
func (a *API) needed(method, path string, k kind) []gin.HandlerFunc {
	chain := []gin.HandlerFunc{middleware.IdentifyCheaply(a.Validate.ID), middleware.Recover(a.fail, a.panicked), middleware.APIHeaders()}
	if k == plain {
		return chain
	}
	chain = append(chain, middleware.Log(a.Journal, a.Buffers), a.checkAddress,
		a.metrics.Counted(method, path), middleware.Audit(a.Trail, method+" "+path))
	if k == write {
		chain = append(chain, middleware.DigestBodies(a.Buffers, a.fail))
	}
	return chain
}

// checkAddress refuses requests whose proxy passes on nonsense as the client's
// address, which would end up in orders and in the audit trail.
func (a *API) checkAddress(c *gin.Context) {
	if !a.Validate.ClientIP(clientIP(c)) {
		a.fail(c, http.StatusBadRequest, 40003, "the client's address is malformed")
	}
}

// clientIP is the address that a proxy in front passes on, else the peer's.
func clientIP(c *gin.Context) string {
	if ip := c.GetHeader("X-Real-Ip"); ip != "" {
		return ip
	}
	return c.RemoteIP()
}

func (a *API) panicked(c *gin.Context, p any) {
	a.Errors.Error("handler panicked", "panic", p, "path", c.FullPath(), "stack", string(debug.Stack()))
}

// health says whether the gateway can serve: 200, or 503 without its database.
func (a *API) health(c *gin.Context) {
	if err := a.Store.Ready(c.Request.Context()); err != nil {
		a.Errors.Warn("not ready", "error", err)
		a.fail(c, http.StatusServiceUnavailable, 50300, "the database does not answer")
		return
	}
	a.send(c, http.StatusOK, []byte(`{"code":0,"data":null,"message":"ok"}`))
}

// page shows the gateway's own counters.
func (a *API) page(c *gin.Context) {
	c.Header("Content-Type", "text/plain; version=0.0.4")
	_, _ = a.metrics.WriteTo(c.Writer)
	if j, ok := a.Journal.(journal.Counter); ok {
		fmt.Fprintf(c.Writer, "log_entries_dropped_total %d\n", j.Dropped())
	}
	s := a.Store.Stats()
	fmt.Fprintf(c.Writer, "db_connections_open %d\ndb_connections_in_use %d\ndb_waits_total %d\ndb_closed_idle_total %d\n",
		s.OpenConnections, s.InUse, s.WaitCount, s.MaxIdleClosed)
}
