// Package shop keeps the books of a bicycle workshop.
package shop

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"
)

// ErrNotFound is returned for what is not in the books.
var ErrNotFound = errors.New("shop: not found")

// Job is a bicycle that is repaired.
type Job struct {
	ID      int64     `db:"id" json:"id"`
	Frame   string    `db:"frame" json:"frame"`
	Status  string    `db:"status" json:"status"`
	TakenAt time.Time `db:"taken_at" json:"taken_at"`
	Name    string    `db:"name" json:"customer"`
	Phone   string    `db:"phone" json:"phone"`
}

// Line is a part or work that a job has used.
type Line struct {
	Label    string `db:"label" json:"label"`
	Quantity int    `db:"quantity" json:"quantity"`
	Cents    int64  `db:"cents" json:"cents"`
}

// Store is the books.
type Store struct{ db *sqlx.DB }

// NewStore reads the books in db.
func NewStore(db *sqlx.DB) *Store { return &Store{db} }

// Job reads a job and whose it is.
func (s *Store) Job(ctx context.Context, id int64) (Job, error) {
	var j Job
	err := s.db.GetContext(ctx, &j, `SELECT j.id, j.frame, j.status, j.taken_at, c.name, c.phone
		FROM jobs j JOIN customers c ON c.id = j.customer_id WHERE j.id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return j, ErrNotFound
	}
	if err != nil {
		return j, fmt.Errorf("job %d: %w", id, err)
	}
	return j, nil
}

// Lines reads what a job has used.
func (s *Store) Lines(ctx context.Context, job int64) ([]Line, error) {
	lines := []Line{}
	err := s.db.SelectContext(ctx, &lines, `SELECT label, quantity, cents FROM job_lines
		WHERE job_id = $1 ORDER BY id`, job)
	if err != nil {
		return nil, fmt.Errorf("lines of job %d: %w", job, err)
	}
	return lines, nil
}

// Open reads the jobs that wait longest.
func (s *Store) Open(ctx context.Context, limit int) ([]Job, error) {
	jobs := []Job{}
	err := s.db.SelectContext(ctx, &jobs, `SELECT j.id, j.frame, j.status, j.taken_at, c.name, c.phone
		FROM jobs j JOIN customers c ON c.id = j.customer_id
		WHERE j.status = 'open' ORDER BY j.taken_at LIMIT $1`, limit)
	if err != nil {
		return nil, fmt.Errorf("open jobs: %w", err)
	}
	return jobs, nil
}
