// Package cloth knows what fabric costs.
package cloth

import (
	"fmt"
	"math"
	"sort"
	"strings"
)

// Currency is what prices are in.
type Currency struct {
	Code  string
	Rate  float64
	Cents int // to which prices are rounded
}

var currencies = map[string]Currency{
	"EUR": {"EUR", 1, 1}, "GBP": {"GBP", 0.86, 1}, "CHF": {"CHF", 0.95, 5}, "SEK": {"SEK", 11.2, 100}, "PLN": {"PLN", 4.3, 1},
}

var shared = map[string]*Currency{}

func init() {
	for code, c := range currencies {
		shared[code] = &c
	}
}

// ParseCurrency returns the currency of a code.
func ParseCurrency(code string) (*Currency, error) {
	c, ok := currencies[strings.ToUpper(strings.TrimSpace(code))]
	if !ok {
		return nil, fmt.Errorf("no currency %q", code)
	}
	return &c, nil
}

// Shared returns the one currency that has c's code.
func Shared(c *Currency) *Currency { return shared[c.Code] }

// Spec is what a tariff is for.
type Spec struct {
	Fabric   string
	Width    int
	Currency *Currency
}

// Tariff is the price per metre by length.
type Tariff struct {
	from  []float64
	price []float64
}

// For returns the step and the price of so many metres.
func (t Tariff) For(metres float64) (int, float64) {
	i := sort.SearchFloat64s(t.from, metres)
	i = max(0, min(i, len(t.from))-1)
	return i, math.Round(t.price[i]*metres*100) / 100
}

// Work works a tariff out: what is wasted of a bale when it is cut into pieces of each length.
func Work(s Spec) (Tariff, error) {
	if !strings.HasPrefix(s.Fabric, "f") || s.Width < 20 || s.Width > 300 {
		return Tariff{}, fmt.Errorf("no fabric %s in %d cm", s.Fabric, s.Width)
	}
	base := 4.0
	for i, r := range s.Fabric {
		base += float64(int(r)*(i+1)%17) / 3
	}
	const steps, bale = 40, 60.0
	t := Tariff{make([]float64, steps), make([]float64, steps)}
	for i := range steps {
		length := 0.5 * float64(i+1)
		waste := 0.0
		for cut := range 250 {
			piece := length * (1 + float64(cut%25)/100)
			waste += math.Mod(bale*(1+math.Sin(float64(cut))/50), piece) / bale
		}
		per := base * float64(s.Width) / 140 * (1 + waste/250) * s.Currency.Rate
		round := float64(s.Currency.Cents)
		t.from[i], t.price[i] = length, math.Round(per*100/round)*round/100
	}
	return t, nil
}
