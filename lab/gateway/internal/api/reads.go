package api

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/lab/gateway/internal/middleware"
	"github.com/redline-go/redline/lab/gateway/internal/order"
)

// databaseTimeout bounds one request's use of the database.
const databaseTimeout = 10 * time.Second

// latest answers GET /api/v1/order?uid=.
func (a *API) latest(c *gin.Context) {
	user, ok := a.reader(c)
	if !ok {
		return
	}
	var o *order.Order
	err := a.Ledger.Do(func() (err error) {
		o, err = a.Cache.Load(user, func() (*order.Order, error) {
			ctx, cancel := context.WithTimeout(c.Request.Context(), databaseTimeout)
			defer cancel()
			return a.Store.Latest(ctx, user)
		})
		return err
	})
	a.answer(c, http.StatusOK, err, func(b *bytes.Buffer) error { return a.Encoder.Order(b, o) })
}

// balance answers GET /api/v1/balance?uid=.
func (a *API) balance(c *gin.Context) {
	user, ok := a.reader(c)
	if !ok {
		return
	}
	var account *order.Balance
	err := a.Ledger.Do(func() (err error) {
		ctx, cancel := context.WithTimeout(c.Request.Context(), databaseTimeout)
		defer cancel()
		account, err = a.Store.Balance(ctx, user)
		return err
	})
	a.answer(c, http.StatusOK, err, func(b *bytes.Buffer) error { return a.Encoder.Balance(b, account) })
}

// reader checks who reads whose data, and passes the read through the pacer and the
// risk score. If it returns false, the request has been answered.
func (a *API) reader(c *gin.Context) (user int64, ok bool) {
	text := c.Query("uid")
	if !a.Validate.UID(text) {
		a.fail(c, http.StatusBadRequest, 40001, "uid is not a user's number")
		return 0, false
	}
	user, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		a.fail(c, http.StatusBadRequest, 40001, "uid is not a user's number")
		return 0, false
	}
	x := middleware.Of(c)
	if user != x.UserID {
		a.fail(c, http.StatusForbidden, 40301, "the token is another user's")
		return 0, false
	}
	a.Pace.Take()
	if x.Risk, err = a.Risk.Score(c.Request.Context(), user); err != nil {
		a.Errors.Warn("no risk score", "error", err)
		a.fail(c, http.StatusBadGateway, 50201, "the risk service does not answer")
		return 0, false
	}
	return user, true
}

// answer writes what encode makes, or the error.
func (a *API) answer(c *gin.Context, status int, err error, encode func(*bytes.Buffer) error) {
	if err != nil {
		a.refuse(c, err)
		return
	}
	b := a.Buffers.Get()
	defer a.Buffers.Put(b)
	if err := encode(b); err != nil {
		a.refuse(c, err)
		return
	}
	a.send(c, status, b.Bytes())
}

// refuse answers a request that failed, with what its caller may know.
func (a *API) refuse(c *gin.Context, err error) {
	for _, known := range []struct {
		err          error
		status, code int
	}{
		{order.ErrNotFound, http.StatusNotFound, 40401},
		{order.ErrNotReversible, http.StatusConflict, 40901},
		{order.ErrKeyReused, http.StatusConflict, 40902},
		{order.ErrInsufficient, http.StatusUnprocessableEntity, 42201},
		{order.ErrNoMerchant, http.StatusUnprocessableEntity, 42202},
	} {
		if errors.Is(err, known.err) {
			a.fail(c, known.status, known.code, known.err.Error())
			return
		}
	}
	if c.Request.Context().Err() != nil {
		// The caller hung up: nobody reads this, and it is no fault of ours.
		// 499 is what nginx made the customary status for it.
		a.fail(c, 499, 49901, "the caller went away")
		return
	}
	a.Errors.Error("request failed", "path", c.FullPath(), "error", err)
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		a.fail(c, http.StatusServiceUnavailable, 50302, "the database did not answer in time")
		return
	}
	a.fail(c, http.StatusInternalServerError, 50001, "internal error")
}
