// Command fare-finder finds fares between stations. It writes the values into the
// text of its statements, so that none of them is ever the same again.
package main

import (
	"fmt"
	"net/http"
	"os"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

type fare struct {
	Class int
	Cents int
	Train string
}

type finder struct {
	db *gorm.DB
}

func (f finder) between(from, to int) (list []fare, err error) {
	text := fmt.Sprintf(`SELECT f.class, f.cents, t.name AS train FROM fares f
		JOIN stations a ON a.id = f.origin JOIN stations b ON b.id = f.target
		JOIN trains t ON t.id = f.train JOIN classes c ON c.id = f.class
		WHERE f.origin = %d AND f.target = %d AND a.zone >= %d AND c.id < %d`, from, to, (from*31+to)%2, 100+(from*to)%99991)
	return list, f.db.Raw(text).Scan(&list).Error
}

const tables = `
CREATE TABLE stations (id int PRIMARY KEY, zone int);
CREATE TABLE trains (id int PRIMARY KEY, name text);
CREATE TABLE classes (id int PRIMARY KEY);
CREATE TABLE fares (origin int, target int, class int, train int, cents int);
INSERT INTO stations SELECT n, n % 9 FROM generate_series(1, 300) n;
INSERT INTO trains SELECT n, 'train ' || n FROM generate_series(1, 100) n;
INSERT INTO classes SELECT n FROM generate_series(1, 2) n;
INSERT INTO fares SELECT n % 300 + 1, n / 300 + 1, n % 2 + 1, n % 100 + 1, n FROM generate_series(0, 29999) n;
CREATE INDEX ON fares (origin, target); ANALYZE`

func main() {
	db, err := gorm.Open(postgres.Open(os.Getenv("DATABASE_URL")), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		panic(err)
	}
	if err := db.Exec(tables).Error; err != nil {
		panic(err)
	}
	pool, err := db.DB()
	if err != nil {
		panic(err)
	}
	pool.SetMaxOpenConns(10)
	pool.SetMaxIdleConns(10)
	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/fares/:from/:to", func(c *fiber.Ctx) error {
		from, _ := strconv.Atoi(c.Params("from"))
		to, _ := strconv.Atoi(c.Params("to"))
		list, err := finder{db}.between(from%300+1, to%100+1)
		if err != nil {
			return c.SendStatus(http.StatusInternalServerError)
		}
		return c.JSON(list)
	})
	app.Get("/", func(c *fiber.Ctx) error { return c.SendStatus(http.StatusOK) })
	panic(app.Listen("127.0.0.1:9517"))
}
