// Package permits issues permits to boats.
package permits

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/redline-go/redline/corpus/healthy/mooring-permits/sqlq"
)

// ErrShort is returned for a boat that is longer than the berth.
var ErrShort = errors.New("the berth is too short")

// Office issues permits.
type Office struct{ pool *pgxpool.Pool }

// New makes an office.
func New(pool *pgxpool.Pool) *Office { return &Office{pool} }

// Routes adds the routes of the office.
func (o *Office) Routes(r gin.IRouter) {
	r.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	r.POST("/permits", o.issue)
	r.GET("/boats/:boat/permits", o.list)
}

type request struct {
	Berth  int    `json:"berth" binding:"required"`
	Boat   string `json:"boat" binding:"required,max=60"`
	Metres int    `json:"metres" binding:"required,min=3,max=30"`
	Nights int    `json:"nights" binding:"required,min=1,max=60"`
}

// Issue makes a permit in one transaction that holds the berth.
func (o *Office) Issue(ctx context.Context, in request) (p sqlq.Permit, err error) {
	err = pgx.BeginFunc(ctx, o.pool, func(tx pgx.Tx) error {
		berth, err := sqlq.LockBerth(ctx, tx, in.Berth)
		if err != nil {
			return err
		}
		if berth.Metres < in.Metres {
			return ErrShort
		}
		if err := sqlq.UseBerth(ctx, tx, berth.ID); err != nil {
			return err
		}
		p = sqlq.Permit{BerthID: berth.ID, Boat: in.Boat, Nights: in.Nights}
		p.ID, err = sqlq.AddPermit(ctx, tx, p)
		return err
	})
	return p, err
}

func (o *Office) issue(c *gin.Context) {
	var in request
	if err := c.ShouldBindJSON(&in); err != nil {
		c.JSON(http.StatusBadRequest, gin.H{"error": err.Error()})
		return
	}
	p, err := o.Issue(c.Request.Context(), in)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		c.JSON(http.StatusNotFound, gin.H{"error": "no such berth"})
	case errors.Is(err, ErrShort):
		c.JSON(http.StatusConflict, gin.H{"error": err.Error()})
	case err != nil:
		slog.Error("permit", "berth", in.Berth, "err", err)
		c.JSON(http.StatusInternalServerError, gin.H{"error": "try again"})
	default:
		c.JSON(http.StatusCreated, p)
	}
}

func (o *Office) list(c *gin.Context) {
	all, err := sqlq.PermitsOf(c.Request.Context(), o.pool, c.Param("boat"))
	if err != nil {
		slog.Error("permits", "boat", c.Param("boat"), "err", err)
		c.JSON(http.StatusInternalServerError, gin.H{"error": "try again"})
		return
	}
	nights := 0
	for _, p := range all {
		nights += p.Nights
	}
	c.JSON(http.StatusOK, gin.H{"permits": all, "nights": nights})
}
