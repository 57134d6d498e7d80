package db

import (
	"context"
	"database/sql"
)

const bookingsOfDay = `-- name: BookingsOfDay :many
SELECT b.id, b.court_id, b.member_id, b.starts_at, b.minutes, b.state, b.note, m.name AS member_name
FROM bookings b JOIN members m ON m.id = b.member_id
WHERE date(b.starts_at) = ? AND b.state <> 'cancelled'
ORDER BY b.starts_at, b.court_id
`

type BookingsOfDayRow struct {
	ID         int64          `json:"id"`
	CourtID    int64          `json:"court_id"`
	MemberID   int64          `json:"member_id"`
	StartsAt   string         `json:"starts_at"`
	Minutes    int64          `json:"minutes"`
	State      string         `json:"state"`
	Note       sql.NullString `json:"note"`
	MemberName string         `json:"member_name"`
}

func (q *Queries) BookingsOfDay(ctx context.Context, day string) ([]BookingsOfDayRow, error) {
	rows, err := q.query(ctx, q.bookingsOfDayStmt, bookingsOfDay, day)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []BookingsOfDayRow
	for rows.Next() {
		var i BookingsOfDayRow
		if err := rows.Scan(&i.ID, &i.CourtID, &i.MemberID, &i.StartsAt, &i.Minutes, &i.State, &i.Note, &i.MemberName); err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return items, nil
}

const bookingsBetween = `-- name: BookingsBetween :many
SELECT b.id, b.court_id, b.member_id, b.starts_at, b.minutes, b.state, b.note, m.name AS member_name
FROM bookings b JOIN members m ON m.id = b.member_id
WHERE b.starts_at >= ? AND b.starts_at < ? AND b.state <> 'cancelled'
ORDER BY b.starts_at, b.court_id
`

type BookingsBetweenParams struct {
	From string `json:"from"`
	To   string `json:"to"`
}

func (q *Queries) BookingsBetween(ctx context.Context, arg BookingsBetweenParams) ([]BookingsOfDayRow, error) {
	rows, err := q.query(ctx, q.bookingsBetweenStmt, bookingsBetween, arg.From, arg.To)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []BookingsOfDayRow
	for rows.Next() {
		var i BookingsOfDayRow
		if err := rows.Scan(&i.ID, &i.CourtID, &i.MemberID, &i.StartsAt, &i.Minutes, &i.State, &i.Note, &i.MemberName); err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return items, nil
}

const memberByEmail = `-- name: MemberByEmail :one
SELECT id, email, name, grade FROM members WHERE email = ?
`

func (q *Queries) MemberByEmail(ctx context.Context, email string) (Member, error) {
	row := q.queryRow(ctx, q.memberByEmailStmt, memberByEmail, email)
	var i Member
	err := row.Scan(&i.ID, &i.Email, &i.Name, &i.Grade)
	return i, err
}

const upcomingOfMember = `-- name: UpcomingOfMember :many
SELECT id, court_id, member_id, starts_at, minutes, state, note FROM bookings
WHERE member_id = ? AND starts_at >= ? ORDER BY starts_at LIMIT ?
`

type UpcomingOfMemberParams struct {
	MemberID int64  `json:"member_id"`
	From     string `json:"from"`
	Limit    int64  `json:"limit"`
}

func (q *Queries) UpcomingOfMember(ctx context.Context, arg UpcomingOfMemberParams) ([]Booking, error) {
	rows, err := q.query(ctx, q.upcomingOfMemberStmt, upcomingOfMember, arg.MemberID, arg.From, arg.Limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var items []Booking
	for rows.Next() {
		var i Booking
		if err := rows.Scan(&i.ID, &i.CourtID, &i.MemberID, &i.StartsAt, &i.Minutes, &i.State, &i.Note); err != nil {
			return nil, err
		}
		items = append(items, i)
	}
	if err := rows.Close(); err != nil {
		return nil, err
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return items, nil
}

const createMember = `-- name: CreateMember :exec
INSERT INTO members (id, email, name, grade) VALUES (?, ?, ?, ?)
`

func (q *Queries) CreateMember(ctx context.Context, arg Member) error {
	_, err := q.exec(ctx, q.createMemberStmt, createMember, arg.ID, arg.Email, arg.Name, arg.Grade)
	return err
}

const createBooking = `-- name: CreateBooking :one
INSERT INTO bookings (court_id, member_id, starts_at, minutes, state, note) VALUES (?, ?, ?, ?, ?, ?) RETURNING id
`

type CreateBookingParams struct {
	CourtID  int64          `json:"court_id"`
	MemberID int64          `json:"member_id"`
	StartsAt string         `json:"starts_at"`
	Minutes  int64          `json:"minutes"`
	State    string         `json:"state"`
	Note     sql.NullString `json:"note"`
}

func (q *Queries) CreateBooking(ctx context.Context, arg CreateBookingParams) (int64, error) {
	row := q.queryRow(ctx, q.createBookingStmt, createBooking, arg.CourtID, arg.MemberID, arg.StartsAt, arg.Minutes, arg.State, arg.Note)
	var id int64
	err := row.Scan(&id)
	return id, err
}
