package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// ErrSpent says that a campaign's budget is used up.
var ErrSpent = errors.New("campaign is spent")

// Campaign has a budget in cents that all its vouchers share.
type Campaign struct {
	ID     int64 `gorm:"primaryKey"`
	Name   string
	Budget int64
	Spent  int64
}

// TableName is the table of campaigns.
func (Campaign) TableName() string { return "gift_campaigns" }

// Redemption is one voucher that was paid with.
type Redemption struct {
	ID         int64     `gorm:"primaryKey" json:"id"`
	CampaignID int64     `gorm:"index" json:"campaign"`
	Code       string    `json:"code"`
	Cents      int64     `json:"cents"`
	Approval   string    `json:"approval"`
	At         time.Time `json:"at"`
}

// TableName is the table of redemptions.
func (Redemption) TableName() string { return "gift_redemptions" }

// Partner approves payments.
type Partner struct {
	url    string
	client *http.Client
}

// NewPartner calls the partner at base.
func NewPartner(base string) *Partner {
	t := &http.Transport{MaxIdleConnsPerHost: 32, IdleConnTimeout: time.Minute}
	return &Partner{url: base + "/approve?", client: &http.Client{Transport: t, Timeout: 3 * time.Second}}
}

// Approve returns the partner's approval of a payment.
func (p *Partner) Approve(ctx context.Context, code string, cents int64) (string, error) {
	q := url.Values{"code": {code}, "cents": {strconv.FormatInt(cents, 10)}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+q.Encode(), nil)
	if err != nil {
		return "", err
	}
	res, err := p.client.Do(req)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return strconv.Itoa(len(body)) + "-" + code, err
}

// Desk takes vouchers.
type Desk struct {
	db      *gorm.DB
	partner *Partner
	early   bool // the partner is asked before the transaction begins
}

// Redeem pays with a voucher of a campaign.
func (d *Desk) Redeem(ctx context.Context, campaign int64, code string, cents int64) (out Redemption, err error) {
	out = Redemption{CampaignID: campaign, Code: code, Cents: cents, At: time.Now().UTC()}
	if d.early {
		if out.Approval, err = d.partner.Approve(ctx, code, cents); err != nil {
			return out, err
		}
	}
	err = d.db.WithContext(ctx).Transaction(func(tx *gorm.DB) error {
		var c Campaign
		if err := tx.Clauses(clause.Locking{Strength: "UPDATE"}).First(&c, campaign).Error; err != nil {
			return err
		}
		if c.Spent+cents > c.Budget {
			return ErrSpent
		}
		if out.Approval == "" {
			if out.Approval, err = d.partner.Approve(ctx, code, cents); err != nil {
				return fmt.Errorf("approve: %w", err)
			}
		}
		if err := tx.Model(&c).Update("spent", c.Spent+cents).Error; err != nil {
			return err
		}
		return tx.Create(&out).Error
	})
	return out, err
}
