package db

import "database/sql"

type Booking struct {
	ID       int64          `json:"id"`
	CourtID  int64          `json:"court_id"`
	MemberID int64          `json:"member_id"`
	StartsAt string         `json:"starts_at"`
	Minutes  int64          `json:"minutes"`
	State    string         `json:"state"`
	Note     sql.NullString `json:"note"`
}

type Member struct {
	ID    int64  `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
	Grade int64  `json:"grade"`
}
