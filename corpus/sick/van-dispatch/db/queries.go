package db

import (
	"context"
	"time"
)

// Job is a row of jobs.
type Job struct {
	ID      int32
	DepotID int32
	Address string
	Kilos   int32
}

// Van is a row of vans.
type Van struct {
	ID      int32
	DepotID int32
	Plate   string
	Kilos   int32
}

// Assignment is a row of assignments.
type Assignment struct {
	ID         int64
	JobID      int32
	VanID      int32
	Route      string
	AssignedAt time.Time
}

const getJob = `-- name: GetJob :one
SELECT id, depot_id, address, kilos FROM jobs WHERE id = $1`

// GetJob returns a job.
func (q *Queries) GetJob(ctx context.Context, id int32) (Job, error) {
	var j Job
	err := q.db.QueryRow(ctx, getJob, id).Scan(&j.ID, &j.DepotID, &j.Address, &j.Kilos)
	return j, err
}

const smallestVan = `-- name: SmallestVan :one
SELECT id, depot_id, plate, kilos FROM vans WHERE depot_id = $1 AND kilos >= $2 ORDER BY kilos LIMIT 1`

// SmallestVanParams are the parameters of SmallestVan.
type SmallestVanParams struct {
	DepotID int32
	Kilos   int32
}

// SmallestVan returns the smallest van of a depot that can carry a weight.
func (q *Queries) SmallestVan(ctx context.Context, arg SmallestVanParams) (Van, error) {
	var v Van
	err := q.db.QueryRow(ctx, smallestVan, arg.DepotID, arg.Kilos).Scan(&v.ID, &v.DepotID, &v.Plate, &v.Kilos)
	return v, err
}

const createAssignment = `-- name: CreateAssignment :one
INSERT INTO assignments (job_id, van_id, route) VALUES ($1, $2, $3) RETURNING id, job_id, van_id, route, assigned_at`

// CreateAssignmentParams are the parameters of CreateAssignment.
type CreateAssignmentParams struct {
	JobID int32
	VanID int32
	Route string
}

// CreateAssignment adds an assignment.
func (q *Queries) CreateAssignment(ctx context.Context, arg CreateAssignmentParams) (Assignment, error) {
	var a Assignment
	err := q.db.QueryRow(ctx, createAssignment, arg.JobID, arg.VanID, arg.Route).
		Scan(&a.ID, &a.JobID, &a.VanID, &a.Route, &a.AssignedAt)
	return a, err
}

const lastAssignment = `-- name: LastAssignment :one
SELECT id, job_id, van_id, route, assigned_at FROM assignments WHERE job_id = $1 ORDER BY id DESC LIMIT 1`

// LastAssignment returns the newest assignment of a job.
func (q *Queries) LastAssignment(ctx context.Context, jobID int32) (Assignment, error) {
	var a Assignment
	err := q.db.QueryRow(ctx, lastAssignment, jobID).Scan(&a.ID, &a.JobID, &a.VanID, &a.Route, &a.AssignedAt)
	return a, err
}
