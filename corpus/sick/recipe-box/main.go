// Command recipe-box serves the recipes of cooks.
package main

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	_ "modernc.org/sqlite"
)

var db *sql.DB
var eager = os.Getenv("FIXED") != ""

const schema = `
create table recipes (id integer primary key, cook_id integer not null, title text not null, minutes integer not null);
create index recipes_cook on recipes (cook_id);
create table cooks (id integer primary key, name text not null);
create table ingredients (recipe_id integer not null, pos integer not null, name text not null, grams integer not null, primary key (recipe_id, pos)) without rowid;
`

type ingredient struct {
	Name  string `json:"name"`
	Grams int    `json:"grams"`
}

type recipe struct {
	ID          int64        `json:"id"`
	Title       string       `json:"title"`
	Minutes     int          `json:"minutes"`
	Ingredients []ingredient `json:"ingredients"`
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func seed() {
	for _, s := range strings.Split(schema, ";\n") {
		_, err := db.Exec(s)
		must(err)
	}
	tx, err := db.Begin()
	must(err)
	for c := 1; c <= 50; c++ {
		_, err = tx.Exec("insert into cooks values (?, ?)", c, fmt.Sprintf("cook %d", c))
		must(err)
		for r := 0; r < 40; r++ {
			id := c*100 + r
			_, err = tx.Exec("insert into recipes values (?, ?, ?, ?)", id, c, fmt.Sprintf("stew no. %d", id), 15+r)
			must(err)
			for i := 0; i < 4; i++ {
				_, err = tx.Exec("insert into ingredients values (?, ?, ?, ?)", id, i, fmt.Sprintf("thing %d", (id+i)%60), 10*i+5)
				must(err)
			}
		}
	}
	must(tx.Commit())
}

func ingredientsOf(id int64) ([]ingredient, error) {
	rows, err := db.Query("select name, grams from ingredients where recipe_id = ? order by pos", id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []ingredient
	for rows.Next() {
		var i ingredient
		if err := rows.Scan(&i.Name, &i.Grams); err != nil {
			return nil, err
		}
		list = append(list, i)
	}
	return list, rows.Err()
}

func recipesOf(cook int64) ([]recipe, error) {
	rows, err := db.Query("select id, title, minutes from recipes where cook_id = ? order by id", cook)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []recipe
	for rows.Next() {
		var r recipe
		if err := rows.Scan(&r.ID, &r.Title, &r.Minutes); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, rows.Err()
}

// recipesJoined is the newer reader of the same page.
func recipesJoined(cook int64) ([]recipe, error) {
	rows, err := db.Query(`select r.id, r.title, r.minutes, i.name, i.grams from recipes r
		join ingredients i on i.recipe_id = r.id where r.cook_id = ? order by r.id, i.pos`, cook)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []recipe
	for rows.Next() {
		var r recipe
		var i ingredient
		if err := rows.Scan(&r.ID, &r.Title, &r.Minutes, &i.Name, &i.Grams); err != nil {
			return nil, err
		}
		if n := len(list); n == 0 || list[n-1].ID != r.ID {
			list = append(list, r)
		}
		last := &list[len(list)-1]
		last.Ingredients = append(last.Ingredients, i)
	}
	return list, rows.Err()
}

func cookbook(w http.ResponseWriter, r *http.Request) {
	cook, err := strconv.ParseInt(r.PathValue("cook"), 10, 64)
	if err != nil {
		http.Error(w, "bad cook", 400)
		return
	}
	var list []recipe
	if eager {
		list, err = recipesJoined(cook)
	} else if list, err = recipesOf(cook); err == nil {
		for i := range list {
			if list[i].Ingredients, err = ingredientsOf(list[i].ID); err != nil {
				break
			}
		}
	}
	if err != nil {
		log.Println(err)
		http.Error(w, "database", 500)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(list)
}

func main() {
	dir, err := os.MkdirTemp("", "recipe-box-")
	must(err)
	db, err = sql.Open("sqlite", "file:"+filepath.Join(dir, "box.db")+
		"?_pragma=journal_mode(wal)&_pragma=synchronous(normal)&_pragma=busy_timeout(5000)")
	must(err)
	db.SetMaxOpenConns(8)
	db.SetMaxIdleConns(8)
	seed()

	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-end
		db.Close()
		os.RemoveAll(dir)
		os.Exit(0)
	}()

	http.HandleFunc("GET /cooks/{cook}/recipes", cookbook)
	http.HandleFunc("GET /up", func(w http.ResponseWriter, r *http.Request) {})
	must(http.ListenAndServe("127.0.0.1:9801", nil))
}
