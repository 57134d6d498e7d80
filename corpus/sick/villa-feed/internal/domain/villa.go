// Package domain has villas.
package domain

import "fmt"

// Villa is a house to rent.
type Villa struct {
	ID        int64
	Code      string
	Name      string
	Region    string
	Beds      int
	Baths     int
	Area      float64
	Pool      bool
	Latitude  float64
	Longitude float64
	Cents     int64
	Deposit   int64
	Stars     int
	Owner     string
	Notes     string
}

// Catalogue has villas by region.
type Catalogue struct{ regions [][]Villa }

// NewCatalogue makes villas for n regions.
func NewCatalogue(n int) *Catalogue {
	c := &Catalogue{}
	for r := range n {
		var vs []Villa
		for i := range 400 {
			vs = append(vs, Villa{ID: int64(r*400 + i), Code: fmt.Sprintf("V%03d-%d", r, i), Name: fmt.Sprintf("Villa %d", i),
				Region: fmt.Sprintf("R%d", r),
				Beds:   2 + i%5, Baths: 1 + i%3, Area: 80 + float64(i%120), Pool: i%3 == 0, Latitude: 40 + float64(i)/100, Longitude: 3,
				Cents: int64(9000 + 100*i%7000), Deposit: 50000, Stars: i % 6, Owner: "owner", Notes: "internal"})
		}
		c.regions = append(c.regions, vs)
	}
	return c
}

// Region returns the villas of a region.
func (c *Catalogue) Region(n int) []Villa {
	if n < 0 || n >= len(c.regions) {
		return nil
	}
	return c.regions[n]
}
