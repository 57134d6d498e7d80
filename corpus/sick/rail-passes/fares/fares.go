// Package fares finds out what a journey costs and whether a pass covers it.
package fares

import (
	"errors"
	"fmt"

	"github.com/sirupsen/logrus"
)

// ErrJourney says that a journey makes no sense.
var ErrJourney = errors.New("journey: two different stations are required")

// Pass is what a traveller bought.
type Pass struct {
	ID    string `json:"id"`
	Class int    `json:"class"`
	Zones []int  `json:"zones"`
	Days  int    `json:"days"`
}

// Price is what remains to be paid.
type Price struct {
	Cents   int    `json:"cents"`
	Covered int    `json:"covered_zones"`
	Paid    int    `json:"paid_zones"`
	Rule    string `json:"rule"`
}

type rule struct {
	name    string
	applies func(p Pass, zones []int) bool
	percent int
}

// Tariff is all rules.
type Tariff struct {
	rules []rule
	zone  map[int]int
	log   logrus.FieldLogger
}

// NewTariff makes a tariff of so many zones.
func NewTariff(zones int, log logrus.FieldLogger) *Tariff {
	t := &Tariff{zone: make(map[int]int, zones), log: log.WithField("part", "fares")}
	for z := range zones {
		t.zone[z] = 140 + z*37%90
	}
	t.rules = []rule{
		{"long-way", func(_ Pass, zs []int) bool { return len(zs) > 12 }, 80},
		{"month", func(p Pass, _ []int) bool { return p.Days >= 30 }, 85},
		{"first-class", func(p Pass, _ []int) bool { return p.Class == 1 }, 150},
		{"plain", func(Pass, []int) bool { return true }, 100},
	}
	return t
}

// Quote prices the journey from zone to zone.
func (t *Tariff) Quote(p Pass, from, to int) (Price, error) {
	if from == to {
		return Price{}, ErrJourney
	}
	step := 1
	if to < from {
		step = -1
	}
	owned := make(map[int]bool, len(p.Zones))
	for _, z := range p.Zones {
		owned[z] = true
	}
	var price Price
	var way []int
	for z := from; ; z += step {
		cents, ok := t.zone[z]
		if !ok {
			return Price{}, fmt.Errorf("zone %d does not exist", z)
		}
		way = append(way, z)
		entry := t.log.WithFields(logrus.Fields{"pass": p.ID, "zone": z, "cents": cents})
		if owned[z] {
			price.Covered++
			entry.WithField("covered", true).Debug("zone")
		} else {
			price.Paid++
			price.Cents += cents
			entry.WithField("covered", false).Debugf("zone %d costs %d", z, cents)
		}
		if z == to {
			break
		}
	}
	for _, r := range t.rules {
		ok := r.applies(p, way)
		t.log.WithFields(logrus.Fields{"pass": p.ID, "rule": r.name, "applies": ok}).Debug("rule")
		if ok {
			price.Rule, price.Cents = r.name, price.Cents*r.percent/100
			break
		}
	}
	return price, nil
}
