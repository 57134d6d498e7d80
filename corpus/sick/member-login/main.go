// Command member-login finds members by their address, whatever its case. The
// index is on the address as it was typed, and the pool is small.
package main

import (
	"net/http"
	"os"
	"strings"

	"github.com/gin-gonic/gin"
	"go.uber.org/zap"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	gormlog "gorm.io/gorm/logger"
)

type Member struct {
	ID      uint   `gorm:"primaryKey"`
	Address string `gorm:"index"`
	Name    string
	Tier    int
}

type Members struct{ db *gorm.DB }

func (m Members) ByAddress(address string) (found Member, err error) {
	err = m.db.Where("lower(address) = ?", strings.ToLower(address)).Take(&found).Error
	return found, err
}

func build(dsn string) (Members, error) {
	db, err := gorm.Open(postgres.Open(dsn), &gorm.Config{Logger: gormlog.Discard, SkipDefaultTransaction: true})
	if err != nil {
		return Members{}, err
	}
	pool, err := db.DB()
	if err != nil {
		return Members{}, err
	}
	pool.SetMaxOpenConns(6)
	pool.SetMaxIdleConns(6)
	if err := db.AutoMigrate(&Member{}); err != nil {
		return Members{}, err
	}
	err = db.Exec("INSERT INTO members (address, name, tier) SELECT 'Member' || n || '@Example.org', 'member ' || n, n " +
		"% 4 FROM generate_series(1, 50000) n").Error
	if err == nil {
		err = db.Exec("ANALYZE members").Error
	}
	return Members{db}, err
}

func main() {
	log := zap.Must(zap.NewProduction())
	members, err := build(os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal("database", zap.Error(err))
	}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.POST("/login", func(c *gin.Context) {
		m, err := members.ByAddress(c.Query("address"))
		if err != nil {
			c.Status(http.StatusUnauthorized)
			return
		}
		c.JSON(http.StatusOK, gin.H{"id": m.ID, "name": m.Name, "tier": m.Tier})
	})
	r.GET("/healthy", func(c *gin.Context) { c.Status(http.StatusOK) })
	log.Fatal("serve", zap.Error(r.Run("127.0.0.1:9507")))
}
