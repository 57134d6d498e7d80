// Package inbox serves agents what they have to do.
package inbox

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"gorm.io/gorm"

	"github.com/redline-go/redline/corpus/sick/helpdesk-inbox/model"
)

const pageSize = 20

// Controller answers requests of agents.
type Controller struct{ db *gorm.DB }

// NewController returns a controller.
func NewController(db *gorm.DB) *Controller { return &Controller{db: db} }

// Register adds the routes.
func (ctl *Controller) Register(g *gin.RouterGroup) {
	g.GET("/agents/:agent/inbox", ctl.Inbox)
	g.GET("/tickets/:id", ctl.Show)
}

func newestFirst(db *gorm.DB) *gorm.DB { return db.Order("touched_at DESC") }

func page(n int) func(*gorm.DB) *gorm.DB {
	return func(db *gorm.DB) *gorm.DB { return db.Offset(n * pageSize).Limit(pageSize) }
}

// Inbox lists the open tickets of an agent.
func (ctl *Controller) Inbox(c *gin.Context) {
	n, _ := strconv.Atoi(c.DefaultQuery("page", "0"))
	var tickets []model.Ticket
	err := ctl.db.WithContext(c.Request.Context()).
		Where("assignee = ? AND state = ?", c.Param("agent"), "open").
		Scopes(newestFirst, page(max(n, 0))).
		Find(&tickets).Error
	if err != nil {
		c.AbortWithStatusJSON(http.StatusInternalServerError, gin.H{"error": err.Error()})
		return
	}
	c.JSON(http.StatusOK, gin.H{"tickets": tickets, "page": n})
}

// Show returns one ticket.
func (ctl *Controller) Show(c *gin.Context) {
	var t model.Ticket
	switch err := ctl.db.WithContext(c.Request.Context()).First(&t, c.Param("id")).Error; {
	case errors.Is(err, gorm.ErrRecordNotFound):
		c.Status(http.StatusNotFound)
	case err != nil:
		c.AbortWithStatusJSON(http.StatusInternalServerError, gin.H{"error": err.Error()})
	default:
		c.JSON(http.StatusOK, t)
	}
}
