// Package zones knows where parking costs what. The districts come with the binary.
package zones

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
)

//go:embed data/*.json
var files embed.FS

// ErrNone says that a place belongs to no zone.
var ErrNone = errors.New("no zone there")

// Window is hours of a day.
type Window struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Zone is an area with one tariff.
type Zone struct {
	ID          string       `json:"id"`
	Name        string       `json:"name"`
	MinuteCents int          `json:"minute_cents"`
	MaxMinutes  int          `json:"max_minutes"`
	Free        Window       `json:"free"`
	Kinds       []string     `json:"kinds"`
	Ring        [][2]float64 `json:"ring"`
}

// District is the zones of a part of the city.
type District struct {
	Name      string `json:"district"`
	ValidFrom string `json:"valid_from"`
	Zones     []Zone `json:"zones"`
}

// Source gives a district by its name.
type Source interface {
	District(name string) (*District, error)
}

// Files is the districts in the binary.
type Files struct{}

// District reads a district.
func (Files) District(name string) (*District, error) {
	raw, err := files.ReadFile(path.Join("data", path.Base(name)+".json"))
	if err != nil {
		return nil, fmt.Errorf("district %s: %w", name, ErrNone)
	}
	var d District
	if err := json.Unmarshal(raw, &d); err != nil {
		return nil, fmt.Errorf("district %s: %w", name, err)
	}
	return &d, nil
}

// Atlas is all districts, read once.
type Atlas map[string]*District

// NewAtlas reads all districts.
func NewAtlas() (Atlas, error) {
	names, err := fs.Glob(files, "data/*.json")
	if err != nil {
		return nil, err
	}
	a := Atlas{}
	for _, n := range names {
		base := path.Base(n)
		d, err := Files{}.District(base[:len(base)-len(".json")])
		if err != nil {
			return nil, err
		}
		a[d.Name] = d
	}
	return a, nil
}

// District finds a district.
func (a Atlas) District(name string) (*District, error) {
	if d, ok := a[name]; ok {
		return d, nil
	}
	return nil, fmt.Errorf("district %s: %w", name, ErrNone)
}

// At finds the zone of a place for a kind of vehicle.
func (d *District) At(x, y float64, kind string) (Zone, error) {
	for _, z := range d.Zones {
		if slices.Contains(z.Kinds, kind) && z.contains(x, y) {
			return z, nil
		}
	}
	return Zone{}, ErrNone
}

// contains counts how often a ray from the place crosses the ring.
func (z Zone) contains(x, y float64) bool {
	in := false
	for i, j := 0, len(z.Ring)-1; i < len(z.Ring); j, i = i, i+1 {
		a, b := z.Ring[i], z.Ring[j]
		if (a[1] > y) != (b[1] > y) && x < (b[0]-a[0])*(y-a[1])/(b[1]-a[1])+a[0] {
			in = !in
		}
	}
	return in
}
