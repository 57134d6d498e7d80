// Package model holds the tables of route sheets.
package model

// Driver drives tours.
type Driver struct {
	ID    uint   `gorm:"primaryKey" json:"id"`
	Name  string `json:"name"`
	Tours []Tour `json:"tours"`
}

// Tour is a round of stops on a day.
type Tour struct {
	ID        uint     `gorm:"primaryKey" json:"id"`
	DriverID  uint     `gorm:"index:tour_driver_day,priority:1" json:"-"`
	Day       string   `gorm:"size:10;index:tour_driver_day,priority:2" json:"day"`
	VehicleID uint     `json:"-"`
	Vehicle   *Vehicle `json:"vehicle"`
	Stops     []Stop   `json:"stops"`
}

// Vehicle is a van.
type Vehicle struct {
	ID    uint   `gorm:"primaryKey" json:"id"`
	Plate string `gorm:"uniqueIndex" json:"plate"`
}

// Stop is where a tour stops.
type Stop struct {
	ID      uint   `gorm:"primaryKey" json:"-"`
	TourID  uint   `gorm:"index:stop_tour_pos,priority:1" json:"-"`
	Pos     int    `gorm:"index:stop_tour_pos,priority:2" json:"pos"`
	Address string `json:"address"`
	Parcels int    `json:"parcels"`
}
