// Command choir-repertoire lists what choirs sing.
package main

import (
	"log"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gin-gonic/gin"
	_ "modernc.org/sqlite"

	"github.com/redline-go/redline/corpus/sick/choir-repertoire/internal/repo"
	"github.com/redline-go/redline/corpus/sick/choir-repertoire/internal/service"
)

func main() {
	dir, err := os.MkdirTemp("", "choir-repertoire-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	db, err := repo.Open(filepath.Join(dir, "choirs.db"))
	if err != nil {
		log.Fatal(err)
	}
	if err := repo.Fill(db); err != nil {
		log.Fatal(err)
	}
	svc := service.New(repo.NewPieces(db), service.Each)
	if os.Getenv("FIXED") == "1" {
		svc = service.New(repo.NewPieces(db), service.Together)
	}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/healthz", func(c *gin.Context) { c.Status(http.StatusOK) })
	r.GET("/choirs/:id/repertoire", func(c *gin.Context) {
		id, err := strconv.Atoi(c.Param("id"))
		if err != nil {
			c.AbortWithStatus(http.StatusBadRequest)
			return
		}
		list, err := svc.Repertoire(c.Request.Context(), uint(id))
		if err != nil {
			_ = c.AbortWithError(http.StatusInternalServerError, err)
			return
		}
		c.JSON(http.StatusOK, gin.H{"choir": id, "pieces": list})
	})
	log.Fatal(r.Run("127.0.0.1:23408"))
}
