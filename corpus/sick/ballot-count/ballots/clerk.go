package ballots

import "context"

type paper struct {
	Ballot
	receipt chan Receipt
	failed  chan error
}

// Clerk records ballots that lie on the desk at the same time together.
type Clerk struct {
	*Book
	desk chan paper
}

// NewClerk starts a clerk that works until ctx ends.
func NewClerk(ctx context.Context, b *Book) *Clerk {
	c := &Clerk{Book: b, desk: make(chan paper, 256)}
	go c.work(ctx)
	return c
}

func (c *Clerk) work(ctx context.Context) {
	for {
		var heap []paper
		select {
		case <-ctx.Done():
			return
		case p := <-c.desk:
			heap = append(heap, p)
		}
		for more := true; more && len(heap) < 64; {
			select {
			case p := <-c.desk:
				heap = append(heap, p)
			default:
				more = false
			}
		}
		receipts, err := c.all(ctx, heap)
		for i, p := range heap {
			if err != nil {
				p.failed <- err
			} else {
				p.receipt <- receipts[i]
			}
		}
	}
}

func (c *Clerk) all(ctx context.Context, heap []paper) ([]Receipt, error) {
	tx, err := c.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	receipts := make([]Receipt, len(heap))
	for i, p := range heap {
		if receipts[i], err = record(ctx, tx, p.Ballot); err != nil {
			return nil, err
		}
	}
	return receipts, tx.Commit()
}

// Record hands the ballot to the clerk.
func (c *Clerk) Record(ctx context.Context, b Ballot) (Receipt, error) {
	p := paper{b, make(chan Receipt, 1), make(chan error, 1)}
	select {
	case c.desk <- p:
	case <-ctx.Done():
		return Receipt{}, ctx.Err()
	}
	select {
	case r := <-p.receipt:
		return r, nil
	case err := <-p.failed:
		return Receipt{}, err
	case <-ctx.Done():
		return Receipt{}, ctx.Err()
	}
}
