// Package service puts the clinic's records together.
package service

import (
	"context"

	"github.com/samber/lo"

	"github.com/redline-go/redline/corpus/sick/clinic-visits/domain"
)

// VisitRepository reads visits.
type VisitRepository interface {
	OfVet(ctx context.Context, vet int64, limit int) ([]domain.Visit, error)
}

// AnimalRepository reads animals.
type AnimalRepository interface {
	ByID(ctx context.Context, id int64) (*domain.Animal, error)
	ByIDs(ctx context.Context, ids []int64) (map[int64]*domain.Animal, error)
}

// TreatmentRepository reads treatments.
type TreatmentRepository interface {
	OfVisit(ctx context.Context, visit int64) ([]domain.Treatment, error)
	OfVisits(ctx context.Context, visits []int64) (map[int64][]domain.Treatment, error)
}

// Diary is a vet's list of visits.
type Diary struct {
	Visits     VisitRepository
	Animals    AnimalRepository
	Treatments TreatmentRepository
	Together   bool
}

// Latest returns the 25 latest visits of a vet.
func (d *Diary) Latest(ctx context.Context, vet int64) ([]domain.Visit, error) {
	list, err := d.Visits.OfVet(ctx, vet, 25)
	if err != nil || len(list) == 0 {
		return list, err
	}
	if d.Together {
		return list, d.fillTogether(ctx, list)
	}
	for i := range list {
		if err := d.fill(ctx, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (d *Diary) fill(ctx context.Context, v *domain.Visit) (err error) {
	if v.Animal, err = d.Animals.ByID(ctx, v.AnimalID); err != nil {
		return err
	}
	v.Treatment, err = d.Treatments.OfVisit(ctx, v.ID)
	return err
}

func (d *Diary) fillTogether(ctx context.Context, list []domain.Visit) error {
	animals, err := d.Animals.ByIDs(ctx, lo.Uniq(lo.Map(list, func(v domain.Visit, _ int) int64 { return v.AnimalID })))
	if err != nil {
		return err
	}
	treatments, err := d.Treatments.OfVisits(ctx, lo.Map(list, func(v domain.Visit, _ int) int64 { return v.ID }))
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Animal, list[i].Treatment = animals[list[i].AnimalID], treatments[list[i].ID]
	}
	return nil
}
