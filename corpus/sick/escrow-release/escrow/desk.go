// Package escrow holds money until goods have come.
package escrow

import (
	"context"
	"errors"
	"fmt"
)

// ErrUnknown says that there is no such deposit.
var ErrUnknown = errors.New("no such deposit")

// Payout is money on its way to a seller.
type Payout struct {
	Escrow    int64  `json:"escrow"`
	Cents     int64  `json:"cents"`
	Reference string `json:"reference"`
	Turn      int    `json:"turn"`
}

// Desk releases deposits.
type Desk struct {
	Store    Store
	Bank     *Bank
	AskFirst bool
}

// Release pays a part of a deposit out.
func (d *Desk) Release(ctx context.Context, id int64) (p Payout, err error) {
	var approved bool
	if d.AskFirst {
		if approved, err = d.Bank.Approves(ctx, id); err != nil {
			return p, err
		}
	}
	err = d.Store.Within(ctx, func(u Unit) error {
		dep, err := u.Lock(ctx, id)
		if err != nil {
			return err
		}
		if !d.AskFirst {
			if err := d.check(ctx, dep, &approved); err != nil {
				return err
			}
		}
		if !approved {
			return fmt.Errorf("the bank does not approve of %d", id)
		}
		p = Payout{Escrow: id, Cents: dep.Cents / 100, Turn: dep.Turn + 1}
		p.Reference = fmt.Sprintf("ESC-%06d-%03d", id, p.Turn)
		return u.Pay(ctx, p)
	})
	return p, err
}

func (d *Desk) check(ctx context.Context, dep Deposit, approved *bool) (err error) {
	if dep.Cents <= 0 {
		return fmt.Errorf("deposit %d is empty", dep.ID)
	}
	*approved, err = d.Bank.Approves(ctx, dep.ID)
	return err
}
