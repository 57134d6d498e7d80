// Command coupon-retry redeems coupons. One in forty hits a version conflict, and
// is tried again after a fixed pause that is far longer than the conflict lasts:
// the median is well, the tail is not.
package main

import (
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"
	"github.com/sirupsen/logrus"
)

var errConflict = errors.New("version conflict")

type redemption func(attempt int) error

// attempts runs a redemption until it goes through.
func attempts(most int, pause time.Duration, run redemption) (err error) {
	for i := range most {
		if err = run(i); !errors.Is(err, errConflict) {
			return err
		}
		<-time.After(pause)
	}
	return err
}

type coupons struct {
	left    [1000]atomic.Int64
	visited atomic.Uint64
}

func (c *coupons) redeem(id int) redemption {
	turn := c.visited.Add(1)
	return func(attempt int) error {
		if attempt == 0 && turn%40 == 0 {
			return errConflict
		}
		c.left[id%len(c.left)].Add(-1)
		return nil
	}
}

func main() {
	log := logrus.New()
	log.SetLevel(logrus.ErrorLevel)
	c := &coupons{}
	r := mux.NewRouter()
	r.HandleFunc("/coupons/{id:[0-9]+}", func(w http.ResponseWriter, r *http.Request) {
		id, _ := strconv.Atoi(mux.Vars(r)["id"])
		if err := attempts(3, 90*time.Millisecond, c.redeem(id)); err != nil {
			log.WithError(err).Error("redeem")
			w.WriteHeader(http.StatusConflict)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:9414", r))
}
