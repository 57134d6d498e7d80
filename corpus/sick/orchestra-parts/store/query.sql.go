package store

import "context"

const getConcert = `-- name: GetConcert :one
SELECT id, title, conductor, held_on FROM concerts WHERE id = $1
`

// GetConcert reads one concert.
func (q *Queries) GetConcert(ctx context.Context, id int64) (Concert, error) {
	row := q.db.QueryRow(ctx, getConcert, id)
	var i Concert
	err := row.Scan(&i.ID, &i.Title, &i.Conductor, &i.HeldOn)
	return i, err
}

const listWorksByConcert = `-- name: ListWorksByConcert :many
SELECT id, concert_id, position, composer, title, minutes FROM works WHERE concert_id = $1 ORDER BY position
`

// ListWorksByConcert reads the works of a concert as they are played.
func (q *Queries) ListWorksByConcert(ctx context.Context, concertID int64) ([]Work, error) {
	rows, err := q.db.Query(ctx, listWorksByConcert, concertID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []Work
	for rows.Next() {
		var i Work
		if err := rows.Scan(&i.ID, &i.ConcertID, &i.Position, &i.Composer, &i.Title, &i.Minutes); err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	return items, rows.Err()
}

const listPartsByWork = `-- name: ListPartsByWork :many
SELECT id, work_id, instrument, desks, shelf FROM parts WHERE work_id = $1 ORDER BY id
`

// ListPartsByWork reads the parts of a work.
func (q *Queries) ListPartsByWork(ctx context.Context, workID int64) ([]Part, error) {
	rows, err := q.db.Query(ctx, listPartsByWork, workID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []Part
	for rows.Next() {
		var i Part
		if err := rows.Scan(&i.ID, &i.WorkID, &i.Instrument, &i.Desks, &i.Shelf); err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	return items, rows.Err()
}

const movePart = `-- name: MovePart :exec
UPDATE parts SET shelf = $2 WHERE id = $1
`

// MovePart puts a part on another shelf.
func (q *Queries) MovePart(ctx context.Context, id int64, shelf string) error {
	_, err := q.db.Exec(ctx, movePart, id, shelf)
	return err
}
