// Package covers finds covers, and asks the agency once for what many want at the same time.
package covers

import (
	"context"

	"golang.org/x/sync/singleflight"
)

// Issue is a number of a magazine.
type Issue struct {
	Publisher string `json:"publisher"`
	Number    string `json:"number"`
}

// Cover is a picture.
type Cover struct {
	Issue
	State string `json:"state"`
	Bytes int    `json:"bytes"`
}

// Keyer says which requests go together.
type Keyer func(Issue) string

// ByPublisher sends one request at a time to the account of a publisher.
func ByPublisher(i Issue) string { return i.Publisher }

// ByIssue sends one request at a time for an issue.
func ByIssue(i Issue) string { return i.Publisher + "/" + i.Number }

// Desk finds covers.
type Desk struct {
	press  *Press
	key    Keyer
	flight singleflight.Group
}

// NewDesk makes a Desk.
func NewDesk(p *Press, k Keyer) *Desk { return &Desk{press: p, key: k} }

// Cover finds the cover of an issue.
func (d *Desk) Cover(ctx context.Context, i Issue) (*Cover, error) {
	for {
		v, err, _ := d.flight.Do(d.key(i), func() (any, error) {
			return d.press.Fetch(context.WithoutCancel(ctx), i)
		})
		if err != nil {
			return nil, err
		}
		if c := v.(*Cover); c.Issue == i {
			return c, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
}
