// Command front-teaser shows the front page's teaser, which is kept for a second.
// Whoever comes after that asks the database, and so do all who come meanwhile.
package main

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/patrickmn/go-cache"
)

type editor struct {
	pool *pgxpool.Pool
	kept *cache.Cache
}

func (e *editor) teaser(ctx context.Context, section string) (string, error) {
	if text, ok := e.kept.Get(section); ok {
		return text.(string), nil
	}
	var text string
	err := e.pool.QueryRow(ctx, `SELECT string_agg(title, ' | ' ORDER BY score DESC) FROM
		(SELECT title, sum(clicks) AS score FROM clicks WHERE section = $1 GROUP BY title ORDER BY 2 DESC LIMIT 5) top`, section).Scan(&text)
	if err != nil {
		return "", err
	}
	e.kept.SetDefault(section, text)
	return text, nil
}

func main() {
	ctx := context.Background()
	pool, err := pgxpool.New(ctx, os.Getenv("DATABASE_URL")+"&pool_max_conns=64")
	if err != nil {
		panic(err)
	}
	if _, err := pool.Exec(ctx, `CREATE TABLE clicks AS SELECT 'home' AS section, 'story ' || n % 60 AS title, n % 7 AS clicks FROM generate_series(1, 150000) n;
		CREATE INDEX ON clicks (section); ANALYZE clicks`); err != nil {
		panic(err)
	}
	e := &editor{pool, cache.New(time.Second, time.Minute)}
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/sections/:section", func(c *gin.Context) {
		text, err := e.teaser(c.Request.Context(), c.Param("section"))
		if err != nil {
			c.Status(http.StatusInternalServerError)
			return
		}
		c.String(http.StatusOK, text)
	})
	r.GET("/ok", func(*gin.Context) {})
	panic(r.Run("127.0.0.1:9521"))
}
