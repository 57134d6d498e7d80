// Package protocol reads protocols of calibrations.
package protocol

import (
	"encoding/xml"
	"fmt"
	"io"
)

// Point is a weight that was put on the scale.
type Point struct {
	Load float64 `xml:"load,attr"`
	Read float64 `xml:"read,attr"`
}

// Protocol is a calibration.
type Protocol struct {
	XMLName xml.Name `xml:"protocol"`
	Scale   string   `xml:"scale,attr"`
	Class   string   `xml:"class"`
	Points  []Point  `xml:"points>point"`
}

// Verdict is the answer.
type Verdict struct {
	XMLName xml.Name `xml:"verdict"`
	Scale   string   `xml:"scale,attr"`
	Pass    bool     `xml:"pass"`
	Worst   string   `xml:"worst"`
	Checks  int      `xml:"checks"`
}

// Read reads a protocol.
func Read(r io.Reader) (*Protocol, error) {
	p := new(Protocol)
	if err := xml.NewDecoder(io.LimitReader(r, 1<<16)).Decode(p); err != nil {
		return nil, fmt.Errorf("protocol: %w", err)
	}
	return p, nil
}
