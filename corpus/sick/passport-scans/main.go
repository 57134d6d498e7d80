// Command passport-scans reads the machine-readable zone of travel documents.
package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/passport-scans/ocr"
	"github.com/redline-go/redline/corpus/sick/passport-scans/pool"
)

type config struct {
	Addr    string
	Engine  string
	Workers int
	Queue   int
	Patient time.Duration
}

func load() config {
	c := config{
		Addr: "127.0.0.1:9347", Engine: os.Getenv("BACKEND_URL"),
		Workers: runtime.GOMAXPROCS(0), Queue: 512, Patient: 5 * time.Second,
	}
	if n, err := strconv.Atoi(os.Getenv("SCAN_WORKERS")); err == nil && n > 0 {
		c.Workers = n
	}
	return c
}

func scan(p *pool.Pool[ocr.Page, ocr.Zone], patient time.Duration, log *zap.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		var page ocr.Page
		if err := c.ShouldBindJSON(&page); err != nil {
			c.AbortWithStatusJSON(http.StatusUnprocessableEntity, gin.H{"error": err.Error()})
			return
		}
		ctx, cancel := context.WithTimeout(c.Request.Context(), patient)
		defer cancel()
		zone, err := p.Do(ctx, page)
		switch {
		case errors.Is(err, pool.ErrFull), errors.Is(err, pool.ErrClosed):
			c.Header("Retry-After", "1")
			c.AbortWithStatus(http.StatusServiceUnavailable)
		case errors.Is(err, context.DeadlineExceeded):
			c.AbortWithStatus(http.StatusGatewayTimeout)
		case err != nil:
			log.Warn("scan", zap.Error(err))
			c.AbortWithStatus(http.StatusBadGateway)
		default:
			c.JSON(http.StatusOK, zone)
		}
	}
}

func main() {
	log := zap.Must(zap.NewProduction())
	cfg := load()
	engine := ocr.NewEngine(cfg.Engine)
	p := pool.New(cfg.Workers, cfg.Queue, engine.Read)

	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	r.POST("/scans", scan(p, cfg.Patient, log))

	srv := &http.Server{Addr: cfg.Addr, Handler: r}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = srv.Shutdown(grace)
	})
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal("serve", zap.Error(err))
	}
	p.Close()
}
