package shop

import "context"

// VAT in per cent.
const VAT = 19

// Invoice is what a customer pays for a job.
type Invoice struct {
	Job   Job    `json:"job"`
	Lines []Line `json:"lines"`
	Net   int64  `json:"net"`
	Tax   int64  `json:"tax"`
	Gross int64  `json:"gross"`
}

// Books are where invoices come from.
type Books interface {
	Job(ctx context.Context, id int64) (Job, error)
	Lines(ctx context.Context, job int64) ([]Line, error)
}

// Bill makes the invoice of a job.
func Bill(ctx context.Context, books Books, id int64) (Invoice, error) {
	job, err := books.Job(ctx, id)
	if err != nil {
		return Invoice{}, err
	}
	lines, err := books.Lines(ctx, id)
	if err != nil {
		return Invoice{}, err
	}
	inv := Invoice{Job: job, Lines: lines}
	for _, l := range lines {
		inv.Net += int64(l.Quantity) * l.Cents
	}
	inv.Tax = (inv.Net*VAT + 50) / 100
	inv.Gross = inv.Net + inv.Tax
	return inv, nil
}
