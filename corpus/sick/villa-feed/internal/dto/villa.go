// Package dto has what portals see.
package dto

import "github.com/redline-go/redline/corpus/sick/villa-feed/internal/domain"

// Villa is a villa as portals see it.
type Villa struct {
	Code      string  `json:"code"`
	Name      string  `json:"name"`
	Region    string  `json:"region"`
	Beds      int     `json:"beds"`
	Baths     int     `json:"baths"`
	Area      float64 `json:"area"`
	Pool      bool    `json:"pool"`
	Latitude  float64 `json:"lat"`
	Longitude float64 `json:"lon"`
	Cents     int64   `json:"cents"`
	Stars     int     `json:"stars"`
}

// FromVilla makes a Villa.
func FromVilla(v *domain.Villa) Villa {
	return Villa{v.Code, v.Name, v.Region, v.Beds, v.Baths, v.Area, v.Pool, v.Latitude, v.Longitude, v.Cents, v.Stars}
}
