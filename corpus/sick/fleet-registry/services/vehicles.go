package services

import (
	"context"

	"github.com/redline-go/redline/corpus/sick/fleet-registry/db"
)

// VehicleReader is the storage that vehicles are read from.
type VehicleReader interface {
	ByID(ctx context.Context, id int64) (db.FleetVehicle, error)
	ByPlate(ctx context.Context, plate string) (db.FleetVehicle, error)
}

type vehicleRepository struct{ q db.Querier }

func NewVehicleRepository(q db.Querier) VehicleReader { return &vehicleRepository{q: q} }

func (r *vehicleRepository) ByID(ctx context.Context, id int64) (db.FleetVehicle, error) {
	return r.q.GetVehicle(ctx, id)
}

func (r *vehicleRepository) ByPlate(ctx context.Context, plate string) (db.FleetVehicle, error) {
	return r.q.GetVehicleByPlate(ctx, plate)
}

// Vehicle is a vehicle as callers see it.
type Vehicle struct {
	ID    int64  `json:"id"`
	Plate string `json:"plate"`
	Model string `json:"model"`
	Due   bool   `json:"service_due"`
}

// VehicleService is the use cases around vehicles.
type VehicleService interface {
	Get(ctx context.Context, id int64) (Vehicle, error)
	FindByPlate(ctx context.Context, plate string) (Vehicle, error)
}

type vehicleService struct{ vehicles VehicleReader }

func NewVehicleService(r VehicleReader) VehicleService { return &vehicleService{vehicles: r} }

func (s *vehicleService) Get(ctx context.Context, id int64) (Vehicle, error) {
	v, err := s.vehicles.ByID(ctx, id)
	return toVehicle(v), err
}

func (s *vehicleService) FindByPlate(ctx context.Context, plate string) (Vehicle, error) {
	v, err := s.vehicles.ByPlate(ctx, plate)
	return toVehicle(v), err
}

func toVehicle(v db.FleetVehicle) Vehicle {
	return Vehicle{ID: v.ID, Plate: v.Plate, Model: v.Model, Due: v.Mileage > 30000}
}
