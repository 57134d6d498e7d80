// Command helpdesk-inbox serves agents the tickets of a help desk.
package main

import (
	"log"
	"os"

	"github.com/gin-gonic/gin"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/redline-go/redline/corpus/sick/helpdesk-inbox/inbox"
	"github.com/redline-go/redline/corpus/sick/helpdesk-inbox/model"
)

func main() {
	db, err := gorm.Open(postgres.Open(os.Getenv("DATABASE_URL")), &gorm.Config{
		Logger:                 logger.Default.LogMode(logger.Error),
		SkipDefaultTransaction: true,
	})
	if err != nil {
		log.Fatalln("open:", err)
	}
	pool, err := db.DB()
	if err != nil {
		log.Fatalln("pool:", err)
	}
	pool.SetMaxOpenConns(12)
	pool.SetMaxIdleConns(12)

	var table any = &model.Ticket{}
	if os.Getenv("FIXED") == "1" {
		table = &model.Indexed{}
	}
	if err := model.Migrate(db, table); err != nil {
		log.Fatalln("migrate:", err)
	}

	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Use(gin.Recovery())
	engine.GET("/health", func(c *gin.Context) { c.String(200, "UP") })
	inbox.NewController(db).Register(engine.Group("/api/v1"))
	log.Fatalln(engine.Run("127.0.0.1:9808"))
}
