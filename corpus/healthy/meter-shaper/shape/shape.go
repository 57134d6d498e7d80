// Package shape converts readings of meters.
package shape

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Meters are named by their maker and a number.
var serial = regexp.MustCompile(`^[A-Z]{2,4}-\d{3,8}$`)

// Old is what meters of the first generation send.
type Old struct {
	Meter  string `json:"meter"`
	Values []struct {
		T int64  `json:"t"` // seconds
		V string `json:"v"` // decimal comma
		U string `json:"u"`
	} `json:"values"`
}

// New is the form of today.
type New struct {
	Serial   string    `json:"serial"`
	Maker    string    `json:"maker"`
	Readings []Reading `json:"readings"`
	Total    float64   `json:"total_wh"`
}

// Reading is one value of a meter.
type Reading struct {
	At       int64   `json:"at_ms"`
	WattHour float64 `json:"wh"`
}

// Error says what is wrong with a document.
type Error struct{ Field, Reason string }

func (e *Error) Error() string { return e.Field + ": " + e.Reason }

var factors = map[string]float64{"Wh": 1, "kWh": 1000, "MWh": 1e6, "kJ": 1 / 3.6}

// Convert brings a document into the form of today. Errors are of type *Error.
func Convert(o Old) (New, error) {
	if !serial.MatchString(o.Meter) {
		return New{}, &Error{"meter", "no serial"}
	}
	maker, _, _ := strings.Cut(o.Meter, "-")
	n := New{Serial: o.Meter, Maker: maker, Readings: make([]Reading, 0, len(o.Values))}
	for i, v := range o.Values {
		factor, ok := factors[v.U]
		if !ok {
			return n, &Error{fmt.Sprintf("values[%d].u", i), "unknown unit"}
		}
		x, err := strconv.ParseFloat(strings.Replace(v.V, ",", ".", 1), 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return n, &Error{fmt.Sprintf("values[%d].v", i), "no number"}
		}
		wh := math.Round(x*factor*1000) / 1000
		n.Total += wh
		n.Readings = append(n.Readings, Reading{At: v.T * 1000, WattHour: wh})
	}
	return n, nil
}
