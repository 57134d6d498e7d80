// Package repository reads the clinic's tables.
package repository

import (
	"context"
	"fmt"

	"github.com/jmoiron/sqlx"

	"github.com/redline-go/redline/corpus/sick/clinic-visits/domain"
)

var ddl = []string{
	`CREATE TABLE clinic_animals (id bigserial PRIMARY KEY, name text NOT NULL, species text NOT NULL)`,
	`CREATE TABLE clinic_visits (id bigserial PRIMARY KEY, animal_id bigint NOT NULL REFERENCES clinic_animals, vet_id bigint NOT NULL, at timestamptz NOT NULL)`,
	`CREATE INDEX clinic_visits_vet ON clinic_visits (vet_id, at DESC)`,
	`CREATE TABLE clinic_treatments (id bigserial PRIMARY KEY, visit_id bigint NOT NULL REFERENCES clinic_visits, code text NOT NULL, cents bigint NOT NULL)`,
	`CREATE INDEX clinic_treatments_visit ON clinic_treatments (visit_id)`,
	`INSERT INTO clinic_animals (name, species) SELECT 'pet ' || n, (ARRAY['cat','dog','rabbit','parrot'])[1 + n % 4] FROM generate_series(1, 2000) n`,
	`INSERT INTO clinic_visits (animal_id, vet_id, at) SELECT 1 + n * 7 % 2000, n % 40, now() - n * interval '11 minutes' FROM generate_series(1, 8000) n`,
	`INSERT INTO clinic_treatments (visit_id, code, cents) SELECT 1 + n % 8000, 'T' || n % 90, 1500 + n % 4000 FROM generate_series(1, 16000) n`,
	`ANALYZE clinic_animals, clinic_visits, clinic_treatments`,
}

// Migrate makes and fills the tables.
func Migrate(ctx context.Context, db *sqlx.DB) error {
	for _, s := range ddl {
		if _, err := db.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("migrate: %w", err)
		}
	}
	return nil
}

// Visits is the repository of visits.
type Visits struct{ DB *sqlx.DB }

// OfVet returns the latest visits of a vet.
func (v Visits) OfVet(ctx context.Context, vet int64, limit int) (list []domain.Visit, err error) {
	err = v.DB.SelectContext(ctx, &list,
		`SELECT id, animal_id, vet_id, at FROM clinic_visits WHERE vet_id = $1 ORDER BY at DESC LIMIT $2`, vet, limit)
	return list, err
}

// Animals is the repository of patients.
type Animals struct{ DB *sqlx.DB }

// ByID returns one animal.
func (a Animals) ByID(ctx context.Context, id int64) (*domain.Animal, error) {
	var found domain.Animal
	if err := a.DB.GetContext(ctx, &found, `SELECT id, name, species FROM clinic_animals WHERE id = $1`, id); err != nil {
		return nil, fmt.Errorf("animal %d: %w", id, err)
	}
	return &found, nil
}

// ByIDs returns animals by their ids.
func (a Animals) ByIDs(ctx context.Context, ids []int64) (map[int64]*domain.Animal, error) {
	q, args, err := sqlx.In(`SELECT id, name, species FROM clinic_animals WHERE id IN (?)`, ids)
	if err != nil {
		return nil, err
	}
	var list []domain.Animal
	if err := a.DB.SelectContext(ctx, &list, a.DB.Rebind(q), args...); err != nil {
		return nil, err
	}
	found := make(map[int64]*domain.Animal, len(list))
	for i := range list {
		found[list[i].ID] = &list[i]
	}
	return found, nil
}

// Treatments is the repository of treatments.
type Treatments struct{ DB *sqlx.DB }

// OfVisit returns what was done at a visit.
func (t Treatments) OfVisit(ctx context.Context, visit int64) (list []domain.Treatment, err error) {
	err = t.DB.SelectContext(ctx, &list, `SELECT visit_id, code, cents FROM clinic_treatments WHERE visit_id = $1`, visit)
	return list, err
}

// OfVisits returns what was done at several visits.
func (t Treatments) OfVisits(ctx context.Context, visits []int64) (map[int64][]domain.Treatment, error) {
	q, args, err := sqlx.In(`SELECT visit_id, code, cents FROM clinic_treatments WHERE visit_id IN (?)`, visits)
	if err != nil {
		return nil, err
	}
	var list []domain.Treatment
	if err := t.DB.SelectContext(ctx, &list, t.DB.Rebind(q), args...); err != nil {
		return nil, err
	}
	found := map[int64][]domain.Treatment{}
	for _, x := range list {
		found[x.VisitID] = append(found[x.VisitID], x)
	}
	return found, nil
}
