// Command barcode-one-proc prints shipping labels. Someone set GOMAXPROCS to 1
// when the machine had one CPU; it has more now, and labels queue for the one.
package main

import (
	"crypto/sha1"
	"encoding/base32"
	"log"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
)

type label struct {
	Parcel  int    `json:"parcel"`
	Digits  string `json:"digits"`
	Pattern string `json:"pattern"`
	Check   int    `json:"check"`
	Sorted  string `json:"sorted"`
}

// digits widens a parcel number as carriers do.
func digits(parcel int) string {
	return strings.Repeat(strconv.Itoa(parcel), 40)
}

func pattern(digits string) string {
	bars := [10]string{"nnwwn", "wnnnw", "nwnnw", "wwnnn", "nnwnw", "wnwnn", "nwwnn", "nnnww", "wnnwn", "nwnwn"}
	var b strings.Builder
	for range 40 {
		for _, d := range digits {
			b.WriteString(bars[d-'0'])
		}
	}
	return b.String()[:200]
}

func check(digits string) int {
	sum := 0
	for round := range 700 {
		for i := 0; i < len(digits); i++ {
			sum += int(digits[i]-'0') * (3 - 2*(i&1)) * (round | 1)
		}
	}
	return (10 - sum%10) % 10
}

func seal(digits string) string {
	sum := sha1.Sum([]byte(digits))
	for range 1500 {
		sum = sha1.Sum(sum[:])
	}
	return base32.StdEncoding.EncodeToString(sum[:])
}

func arrange(digits string) string {
	bytes := []byte(strings.Repeat(digits, 20))
	slices.Sort(bytes)
	return string(bytes[:32])
}

func main() {
	runtime.GOMAXPROCS(1)
	gin.SetMode(gin.ReleaseMode)
	r := gin.New()
	r.GET("/labels/:parcel", func(c *gin.Context) {
		parcel, err := strconv.Atoi(c.Param("parcel"))
		if err != nil || parcel < 0 {
			c.String(http.StatusBadRequest, "parcels are numbers")
			return
		}
		d := digits(parcel)
		c.JSON(http.StatusOK, label{Parcel: parcel, Digits: seal(d), Pattern: pattern(d), Check: check(d), Sorted: arrange(d)})
	})
	log.Fatal(r.Run("127.0.0.1:9302"))
}
