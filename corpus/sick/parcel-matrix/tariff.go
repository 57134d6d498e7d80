package main

import "sync"

type step struct {
	upTo  uint32 // grams
	cents int64
}

// Tariff has steps of weight for each zone.
type Tariff struct {
	zones [8][]step
	bulky uint32 // cubic centimetres
}

// NewTariff is the tariff of this year.
func NewTariff() *Tariff {
	t := &Tariff{bulky: 40_000}
	for z := range t.zones {
		for g := uint32(500); g <= 32_000; g *= 2 {
			t.zones[z] = append(t.zones[z], step{g, int64(199 + z*90 + int(g)/25)})
		}
	}
	return t
}

func (t *Tariff) price(p Parcel) int64 {
	var cents int64
	for _, s := range t.zones[p.Zone] {
		cents = s.cents
		if p.Grams <= s.upTo {
			break
		}
	}
	if p.Volume > t.bulky {
		cents += cents / 5
	}
	return cents
}

type priced struct {
	zone  uint8
	cents int64
}

// Quote prices all parcels at once.
func (t *Tariff) Quote(parcels []Parcel) Quote {
	var wg sync.WaitGroup
	prices := make(chan priced, len(parcels))
	for _, p := range parcels {
		wg.Add(1)
		go func() {
			defer wg.Done()
			prices <- priced{p.Zone, t.price(p)}
		}()
	}
	wg.Wait()
	close(prices)
	q := Quote{Parcels: len(parcels)}
	for p := range prices {
		q.Cents += p.cents
		q.ByZone[p.zone] += p.cents
	}
	return q
}
