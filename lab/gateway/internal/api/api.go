// Package api is the gateway's HTTP interface: routes, the middleware around
// each, and the handlers. It owns no state of its own beyond what Config gives
// it.
package api

import (
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/lab/gateway/internal/audit"
	"github.com/redline-go/redline/lab/gateway/internal/auth"
	"github.com/redline-go/redline/lab/gateway/internal/buffer"
	"github.com/redline-go/redline/lab/gateway/internal/cache"
	"github.com/redline-go/redline/lab/gateway/internal/journal"
	"github.com/redline-go/redline/lab/gateway/internal/ledger"
	"github.com/redline-go/redline/lab/gateway/internal/middleware"
	"github.com/redline-go/redline/lab/gateway/internal/pace"
	"github.com/redline-go/redline/lab/gateway/internal/ratelimit"
	"github.com/redline-go/redline/lab/gateway/internal/reply"
	"github.com/redline-go/redline/lab/gateway/internal/risk"
	"github.com/redline-go/redline/lab/gateway/internal/spin"
	"github.com/redline-go/redline/lab/gateway/internal/store"
	"github.com/redline-go/redline/lab/gateway/internal/validate"
)

// Config holds the interface's parts. Cache, Pace and Risk may be nil; all else is
// required.
type Config struct {
	Store    *store.Store
	Cache    *cache.Orders
	Ledger   *ledger.Ledger
	Pace     *pace.Pacer
	Risk     *risk.Client
	Auth     *auth.Keeper
	Journal  journal.Journal
	Trail    *audit.Trail
	Rates    ratelimit.Table
	Buffers  *buffer.Source
	Validate *validate.Validator
	Encoder  reply.Encoder
	Trimmed  bool // each route gets only the middleware that it needs
	Workers  int  // requests handled at once; 0 is no limit
	Spin     spin.Rounds
	Errors   *slog.Logger
}

// API serves requests; make one with New.
type API struct {
	Config
	metrics *middleware.Metrics
}

// New returns the gateway's handler.
func New(c Config) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	a := &API{Config: c, metrics: middleware.NewMetrics()}
	engine := gin.New()
	engine.HandleMethodNotAllowed = true
	engine.ContextWithFallback = true
	a.routes(engine)
	return engine
}

// fail answers with an API error and ends the chain.
func (a *API) fail(c *gin.Context, status, code int, message string) {
	b := a.Buffers.Get()
	defer a.Buffers.Put(b)
	a.Encoder.Failure(b, code, message)
	c.Abort()
	a.send(c, status, b.Bytes())
}

// jsonType is shared by all replies: net/http only reads it.
var jsonType = []string{"application/json; charset=utf-8"}

// send writes a body. With its length known, net/http need not chunk it.
func (a *API) send(c *gin.Context, status int, body []byte) {
	h := c.Writer.Header()
	h["Content-Type"] = jsonType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	c.Status(status)
	// A reader that went away needs no answer.
	_, _ = c.Writer.Write(body)
}
