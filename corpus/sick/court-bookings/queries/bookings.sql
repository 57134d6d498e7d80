-- name: BookingsOfDay :many
SELECT b.id, b.court_id, b.member_id, b.starts_at, b.minutes, b.state, b.note, m.name AS member_name
FROM bookings b JOIN members m ON m.id = b.member_id
WHERE date(b.starts_at) = ? AND b.state <> 'cancelled'
ORDER BY b.starts_at, b.court_id;

-- name: BookingsBetween :many
SELECT b.id, b.court_id, b.member_id, b.starts_at, b.minutes, b.state, b.note, m.name AS member_name
FROM bookings b JOIN members m ON m.id = b.member_id
WHERE b.starts_at >= ? AND b.starts_at < ? AND b.state <> 'cancelled'
ORDER BY b.starts_at, b.court_id;

-- name: MemberByEmail :one
SELECT id, email, name, grade FROM members WHERE email = ?;

-- name: UpcomingOfMember :many
SELECT id, court_id, member_id, starts_at, minutes, state, note FROM bookings
WHERE member_id = ? AND starts_at >= ? ORDER BY starts_at LIMIT ?;

-- name: CreateMember :exec
INSERT INTO members (id, email, name, grade) VALUES (?, ?, ?, ?);

-- name: CreateBooking :one
INSERT INTO bookings (court_id, member_id, starts_at, minutes, state, note) VALUES (?, ?, ?, ?, ?, ?) RETURNING id;
