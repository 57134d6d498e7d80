// Command chat-masking hides what must not be said in a shop's chat: card
// numbers, telephone numbers, addresses and rude words.
package main

import (
	"net/http"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/corpus/sick/chat-masking/mask"
)

type message struct {
	From string `json:"from" binding:"required,max=40"`
	Text string `json:"text" binding:"required,max=2000"`
	Room string `json:"room" binding:"required"`
}

type verdict struct {
	Text   string         `json:"text"`
	Hits   map[string]int `json:"hits"`
	Shouty bool           `json:"shouty"`
	Words  int            `json:"words"`
	Score  float64        `json:"score"`
}

// masker puts the masker of the request's language into the context.
func masker(find func(lang string) *mask.Masker) gin.HandlerFunc {
	return func(c *gin.Context) {
		lang, _, _ := strings.Cut(c.GetHeader("Accept-Language"), ",")
		lang, _, _ = strings.Cut(lang, "-")
		c.Set("masker", find(strings.ToLower(strings.TrimSpace(lang))))
		c.Next()
	}
}

func judge(c *gin.Context) {
	var m message
	if err := c.ShouldBindJSON(&m); err != nil {
		c.AbortWithStatusJSON(http.StatusBadRequest, gin.H{"error": err.Error()})
		return
	}
	text, hits := c.MustGet("masker").(*mask.Masker).Mask(m.Text)
	v := verdict{Text: text, Hits: hits, Words: len(strings.Fields(m.Text))}
	upper := 0
	for _, r := range m.Text {
		if r >= 'A' && r <= 'Z' {
			upper++
		}
	}
	v.Shouty = upper*2 > utf8.RuneCountInString(m.Text)
	for _, n := range hits {
		v.Score += float64(n) / float64(v.Words+1)
	}
	c.JSON(http.StatusOK, v)
}

func main() {
	gin.SetMode(gin.ReleaseMode)
	find := mask.For
	if os.Getenv("FIXED") == "1" {
		find = mask.Kept()
	}
	r := gin.New()
	r.Use(gin.Recovery())
	r.GET("/status", func(c *gin.Context) { c.String(http.StatusOK, "fine") })
	chat := r.Group("/chat", masker(find))
	chat.POST("/messages", judge)
	if err := r.Run("127.0.0.1:21306"); err != nil {
		panic(err)
	}
}
