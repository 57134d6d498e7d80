package demo

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	// pgx speaks the protocol: databases are copied and orders counted with it.
	"github.com/jackc/pgx/v5"

	"github.com/redline-go/redline/demo/ladder"
)

// databases are two copies of the seeded one, so that two states of the gateway can be up
// at once although one has the index and the other has not.
type databases struct {
	seeded string    // DSN
	copies [2]string // DSNs
	// grown is how many orders the copies gained at most since they were made.
	grown int64
	names [2]string
}

// mostGrown is when copies are made anew: 2 % of the seeded orders, so that no state of
// the service has more rows to read than the one that it is compared with.
const mostGrown = 4000

// copyOf names the databases after the seeded one, whatever that is called.
func copyOf(dsn string) (databases, error) {
	u, err := url.Parse(dsn)
	if err != nil || u.Scheme == "" || len(u.Path) < 2 {
		return databases{}, errors.New("the database's DSN is no URL with a database in it " +
			"(hint: postgres://user@host:5432/name)")
	}
	d := databases{seeded: dsn, grown: mostGrown + 1}
	for i := range d.copies {
		d.names[i] = u.Path[1:] + "_rung_" + "ab"[i:i+1]
		other := *u
		other.Path = "/" + d.names[i]
		d.copies[i] = other.String()
	}
	return d, nil
}

// fresh makes the copies, unless they have grown by little since.
func (d *databases) fresh(ctx context.Context) error {
	if d.grown <= mostGrown {
		return nil
	}
	// Not from the seeded database: nobody may be connected to a template.
	conn, err := d.connect(ctx, "postgres")
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var version int
	if err := conn.QueryRow(ctx, "SELECT current_setting('server_version_num')::int").Scan(&version); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	u, err := url.Parse(d.seeded)
	if err != nil {
		return err
	}
	for _, name := range d.names {
		quoted := pgx.Identifier{name}.Sanitize()
		statement := "CREATE DATABASE " + quoted + " TEMPLATE " + pgx.Identifier{u.Path[1:]}.Sanitize()
		if version >= 150000 {
			statement += " STRATEGY file_copy" // by the log it takes three times as long
		}
		for _, one := range []string{"DROP DATABASE IF EXISTS " + quoted + " WITH (FORCE)", statement} {
			if _, err := conn.Exec(ctx, one); err != nil {
				return fmt.Errorf("copy the database: %w", err)
			}
		}
	}
	d.grown = 0
	return nil
}

// connect opens a connection to another database of the server.
func (d *databases) connect(ctx context.Context, name string) (*pgx.Conn, error) {
	u, err := url.Parse(d.seeded)
	if err != nil {
		return nil, err
	}
	u.Path = "/" + name
	return pgx.Connect(ctx, u.String())
}

// remove drops the copies, of a server that goes on.
func (d *databases) remove(ctx context.Context) {
	conn, err := d.connect(ctx, "postgres")
	if err != nil {
		return // the server has ended, and the copies with it
	}
	defer conn.Close(ctx)
	for _, name := range d.names {
		_, _ = conn.Exec(ctx, "DROP DATABASE IF EXISTS "+pgx.Identifier{name}.Sanitize()+" WITH (FORCE)")
	}
}

// stock is what a database holds of orders and money.
type stock struct {
	orders, cents int64
}

// stockSQL counts orders, and the money on accounts and in captured orders together: an
// order moves money from the one to the other, and a reversal moves it back.
const stockSQL = `SELECT (SELECT count(*) FROM orders),
	(SELECT sum(balance_cents) FROM accounts)::bigint +
	(SELECT sum(amount_cents) FROM orders WHERE status = 'captured')::bigint`

// stock reads a copy.
func (d *databases) stock(ctx context.Context, side int) (s stock, err error) {
	conn, err := d.connect(ctx, d.names[side])
	if err != nil {
		return s, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	err = conn.QueryRow(ctx, stockSQL).Scan(&s.orders, &s.cents)
	return s, err
}

// settle completes a side's account: what its database gained since it held before.
func (d *databases) settle(ctx context.Context, side int, before stock, a ladder.Account) (ladder.Account, error) {
	now, err := d.stock(ctx, side)
	if err != nil {
		return a, fmt.Errorf("count the orders: %w", err)
	}
	a.Rows, a.Cents = now.orders-before.orders, now.cents-before.cents
	d.grown += a.Rows
	return a, nil
}
