// Command toy-catalogue serves the articles of a toy shop as JSON. Articles are
// encoded when they change, which is seldom, and not when they are read.
package main

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"
	"sync"

	"github.com/gin-gonic/gin"
)

// Toy is an article.
type Toy struct {
	ID     int               `json:"id"`
	Name   string            `json:"name"`
	Cents  int               `json:"cents"`
	Ages   [2]int            `json:"ages"`
	Parts  []string          `json:"parts"`
	Tested map[string]string `json:"tested"`
}

// shelf holds articles with their encoded form.
type shelf struct {
	mu   sync.RWMutex
	toys map[int]Toy
	body map[int][]byte
	tags map[int]string
}

func newShelf(n int) (*shelf, error) {
	s := &shelf{toys: map[int]Toy{}, body: map[int][]byte{}, tags: map[int]string{}}
	for i := range n {
		t := Toy{ID: i, Name: fmt.Sprintf("wooden crane no. %d", i), Cents: 990 + i*37%4000, Ages: [2]int{3 + i%5, 12}}
		for p := range 8 {
			t.Parts = append(t.Parts, fmt.Sprintf("beam %d x %d mm", 20+p*5, 80+i%40))
		}
		t.Tested = map[string]string{"EN 71-1": "passed", "EN 71-2": "passed", "EN 71-3": "passed"}
		if err := s.put(t); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *shelf) put(t Toy) error {
	body, err := json.Marshal(t)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.toys[t.ID], s.body[t.ID] = t, body
	s.tags[t.ID] = strconv.Quote(strconv.FormatUint(uint64(crc32.ChecksumIEEE(body)), 36))
	return nil
}

func (s *shelf) get(id int) ([]byte, string) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.body[id], s.tags[id]
}

func (s *shelf) show(c *gin.Context) {
	id, err := strconv.Atoi(c.Param("id"))
	body, tag := s.get(id)
	if err != nil || body == nil {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	c.Header("ETag", tag)
	if c.GetHeader("If-None-Match") == tag {
		c.Status(http.StatusNotModified)
		return
	}
	c.Data(http.StatusOK, "application/json; charset=utf-8", body)
}

func (s *shelf) price(c *gin.Context) {
	var in struct {
		Cents int `json:"cents" binding:"required,min=1"`
	}
	id, err := strconv.Atoi(c.Param("id"))
	if err != nil || c.ShouldBindJSON(&in) != nil {
		c.AbortWithStatus(http.StatusBadRequest)
		return
	}
	s.mu.RLock()
	t, ok := s.toys[id]
	s.mu.RUnlock()
	if !ok {
		c.AbortWithStatus(http.StatusNotFound)
		return
	}
	t.Cents = in.Cents
	if err := s.put(t); err != nil {
		c.AbortWithStatus(http.StatusInternalServerError)
		return
	}
	c.Status(http.StatusNoContent)
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	s, err := newShelf(800)
	if err != nil {
		panic(err)
	}
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/toys/:id", s.show)
	r.PUT("/toys/:id/price", s.price)
	r.GET("/up", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	if err := r.Run("127.0.0.1:21333"); err != nil {
		panic(err)
	}
}
