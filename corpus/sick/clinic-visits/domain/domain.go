// Package domain is the words of a veterinary clinic.
package domain

import "time"

// Visit is one appointment that took place.
type Visit struct {
	ID        int64       `db:"id" json:"id"`
	AnimalID  int64       `db:"animal_id" json:"-"`
	VetID     int64       `db:"vet_id" json:"-"`
	At        time.Time   `db:"at" json:"at"`
	Animal    *Animal     `db:"-" json:"animal"`
	Treatment []Treatment `db:"-" json:"treatments"`
}

// Animal is a patient.
type Animal struct {
	ID      int64  `db:"id" json:"id"`
	Name    string `db:"name" json:"name"`
	Species string `db:"species" json:"species"`
}

// Treatment is something done at a visit.
type Treatment struct {
	VisitID int64  `db:"visit_id" json:"-"`
	Code    string `db:"code" json:"code"`
	Cents   int64  `db:"cents" json:"cents"`
}
