package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/redline-go/redline/lab/gateway/internal/middleware"
	"github.com/redline-go/redline/lab/gateway/internal/order"
)

// Bounds of an order, which also keep its amount far from overflow.
const (
	itemsMost    = 50
	quantityMost = 1_000
	priceMost    = 1_000_000_00 // cents
	nameMost     = 120          // bytes
)

// orderRequest is the body of POST /api/v1/orders.
type orderRequest struct {
	MerchantID int64         `json:"merchant_id"`
	Channel    string        `json:"channel"`
	Currency   string        `json:"currency"`
	CardNumber string        `json:"card_number"`
	Items      []itemRequest `json:"items"`
}

type itemRequest struct {
	SKU            string `json:"sku"`
	Name           string `json:"name"`
	Quantity       int64  `json:"quantity"`
	UnitPriceCents int64  `json:"unit_price_cents"`
}

// create answers POST /api/v1/orders: 201 for a new order, 200 for the one that
// the same Idempotency-Key made before.
func (a *API) create(c *gin.Context) {
	key := c.GetHeader("Idempotency-Key")
	if key != "" && !a.Validate.ID(key) {
		a.fail(c, http.StatusBadRequest, 40004, "the idempotency key is malformed")
		return
	}
	var body orderRequest
	d := json.NewDecoder(http.MaxBytesReader(c.Writer, c.Request.Body, middleware.BodyLimit))
	d.DisallowUnknownFields()
	err := d.Decode(&body)
	if err == nil {
		if _, err = d.Token(); err == nil {
			err = errors.New("more than one value")
		} else if errors.Is(err, io.EOF) {
			err = nil
		}
	}
	if err != nil {
		middleware.FailBody(c, err, a.fail)
		return
	}
	if wrong := a.check(&body); wrong != "" {
		a.fail(c, http.StatusBadRequest, 40005, wrong)
		return
	}
	draft := order.Draft{
		UserID: middleware.Of(c).UserID, MerchantID: body.MerchantID, Channel: body.Channel, ClientIP: clientIP(c),
		Currency: body.Currency, CardNumber: body.CardNumber, Key: key,
	}
	for _, i := range body.Items {
		draft.Items = append(draft.Items, order.DraftItem(i))
	}
	var o *order.Order
	var made bool
	err = a.write(c, draft.UserID, func(ctx context.Context) (err error) {
		o, made, err = a.Store.Create(ctx, draft)
		return err
	})
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	a.answer(c, status, err, func(b *bytes.Buffer) error { return a.Encoder.Order(b, o) })
}

// reverse answers POST /api/v1/orders/:id/reverse. It may be repeated.
func (a *API) reverse(c *gin.Context) {
	id, err := strconv.ParseInt(c.Param("id"), 10, 64)
	if err != nil || id < 1 {
		a.refuse(c, order.ErrNotFound)
		return
	}
	user := middleware.Of(c).UserID
	var o *order.Order
	err = a.write(c, user, func(ctx context.Context) (err error) {
		o, err = a.Store.Reverse(ctx, user, id)
		return err
	})
	a.answer(c, http.StatusOK, err, func(b *bytes.Buffer) error { return a.Encoder.Order(b, o) })
}

// write runs f and drops the user's cached order afterwards, also when f failed:
// a commit whose answer was lost has still happened.
func (a *API) write(c *gin.Context, user int64, f func(context.Context) error) error {
	defer a.Cache.Drop(user)
	// A caller who hangs up does not take back an order that is being made.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Request.Context()), databaseTimeout)
	defer cancel()
	return a.Ledger.Do(func() error { return f(ctx) })
}

// check returns what is wrong with an order, "" for nothing.
func (a *API) check(o *orderRequest) string {
	switch {
	case o.MerchantID < 1:
		return "merchant_id is not a merchant's number"
	case !a.Validate.Channel(o.Channel):
		return "channel is not app, web or pos"
	case !a.Validate.Currency(o.Currency):
		return "currency is not a code of three letters"
	case !a.Validate.Card(o.CardNumber):
		return "card_number is not 13 to 19 digits"
	case len(o.Items) == 0 || len(o.Items) > itemsMost:
		return "items are not 1 to 50"
	}
	for _, i := range o.Items {
		switch {
		case !a.Validate.SKU(i.SKU):
			return "an item's sku is malformed"
		case i.Name == "" || len(i.Name) > nameMost:
			return "an item's name is not 1 to 120 bytes"
		case i.Quantity < 1 || i.Quantity > quantityMost:
			return "an item's quantity is not 1 to 1000"
		case i.UnitPriceCents < 1 || i.UnitPriceCents > priceMost:
			return "an item's unit_price_cents is out of range"
		}
	}
	return ""
}
