package ladder

import (
	"fmt"

	"github.com/redline-go/redline/notation"
)

// Account holds the orders of one side under load: what its clients were answered against
// what its database holds. The zero Account is balanced.
type Account struct {
	// Made are the orders whose clients were answered that they are made.
	Made int64 `json:"made"`
	// Open are orders that were asked for and whose clients know nothing: the request
	// failed or never ended. Such an order may be there or not.
	Open int64 `json:"open"`
	// Rows are the orders that the database gained.
	Rows int64 `json:"rows"`
	// Cents is how much all balances and captured orders together gained. An order takes
	// from the one what it adds to the other and a reversal gives it back, so it is 0.
	Cents int64 `json:"cents"`
}

// Plus adds two launches of one side up.
func (a Account) Plus(b Account) Account {
	return Account{a.Made + b.Made, a.Open + b.Open, a.Rows + b.Rows, a.Cents + b.Cents}
}

// Fault says what is wrong; "" where each order is there once and all money accounted for.
func (a Account) Fault() string {
	switch {
	case a.Rows < a.Made:
		return notation.Counted(a.Made-a.Rows, "order is lost", "orders are lost") + a.figures()
	case a.Rows > a.Made+a.Open:
		return notation.Counted(a.Rows-a.Made-a.Open, "order is doubled", "orders are doubled") + a.figures()
	case a.Cents != 0:
		return fmt.Sprintf("balances and orders differ by %d cents", a.Cents)
	}
	return ""
}

func (a Account) figures() string {
	return fmt.Sprintf(": clients know of %s and do not know of %s, the database gained %s",
		notation.Count(a.Made), notation.Count(a.Open), notation.Count(a.Rows))
}
