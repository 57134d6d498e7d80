// Command choir-roster notes who comes to the rehearsals of a choir.
package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/rs/zerolog"
)

func logged(log zerolog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		begin := time.Now()
		c.Next()
		if len(c.Errors) > 0 {
			log.Error().Err(c.Errors.Last()).Str("path", c.FullPath()).Dur("took", time.Since(begin)).Send()
			c.AbortWithStatus(http.StatusInternalServerError)
		}
	}
}

func routes(r *roster, log zerolog.Logger) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	e.Use(gin.Recovery(), logged(log))
	e.GET("/up", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	e.GET("/rehearsals/:id", func(c *gin.Context) {
		id, err := strconv.ParseInt(c.Param("id"), 10, 64)
		if err != nil {
			c.AbortWithStatus(http.StatusNotFound)
			return
		}
		voices, err := r.voices(c.Request.Context(), id)
		if err != nil {
			_ = c.Error(err)
			return
		}
		c.JSON(http.StatusOK, gin.H{"rehearsal": id, "voices": voices})
	})
	e.PUT("/rehearsals/:id/singers/:singer", func(c *gin.Context) {
		id, err := strconv.ParseInt(c.Param("id"), 10, 64)
		singer, err2 := strconv.ParseInt(c.Param("singer"), 10, 64)
		if err != nil || err2 != nil {
			c.AbortWithStatus(http.StatusNotFound)
			return
		}
		if err := r.promise(c.Request.Context(), id, singer); err != nil {
			_ = c.Error(err)
			return
		}
		c.Status(http.StatusNoContent)
	})
	return e
}

func run(log zerolog.Logger) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "choir-roster-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	r, err := open(ctx, filepath.Join(dir, "choir.db"))
	if err != nil {
		return err
	}
	defer r.close()
	srv := &http.Server{Addr: "127.0.0.1:9219", Handler: routes(r, log)}
	context.AfterFunc(ctx, func() { _ = srv.Close() })
	if err := srv.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	log := zerolog.New(os.Stderr).With().Timestamp().Logger()
	if err := run(log); err != nil {
		log.Fatal().Err(err).Send()
	}
}
