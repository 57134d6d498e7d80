package plates

import "regexp"

// Format is how the plates of a country look. Region is the group of the pattern
// that holds the place of registration; 0 is none.
type Format struct {
	Country  string
	Pattern  string
	Region   int
	Electric string // a pattern, where such plates can be told
}

var formats = []Format{
	{
		Country: "D", Pattern: `^([A-ZÄÖÜ]{1,3})[ -]([A-Z]{1,2})[ -]?([1-9][0-9]{0,3})([EH])?$`,
		Region: 1, Electric: `E$`,
	},
	{Country: "A", Pattern: `^(W|[A-Z]{2})[ -]?([0-9]{1,5}[ ]?[A-Z]{1,3})$`, Region: 1},
	{Country: "CH", Pattern: `^(AG|BE|GE|GR|LU|SG|TI|VD|VS|ZH)[ -]?([0-9]{1,6})$`, Region: 1},
	{Country: "NL", Pattern: `^([A-Z]{2}-[0-9]{3}-[A-Z]|[A-Z]-[0-9]{3}-[A-Z]{2}|[0-9]{2}-[A-Z]{3}-[0-9])$`},
	{Country: "F", Pattern: `^([A-HJ-NP-TV-Z]{2})-([0-9]{3})-([A-HJ-NP-TV-Z]{2})$`},
	{Country: "I", Pattern: `^([A-HJ-NPR-TV-Z]{2})[ ]([0-9]{3})[ ]?([A-HJ-NPR-TV-Z]{2})$`},
	{Country: "E", Pattern: `^([0-9]{4})[ -]([BCDFGHJ-NPR-TV-Z]{3})$`},
	{Country: "PL", Pattern: `^([A-Z]{2,3})[ ]([0-9A-Z]{4,5})P$`, Region: 1},
	{Country: "DK", Pattern: `^([A-Z]{2})[ ]([0-9]{2})[ ]([0-9]{3})$`},
	{Country: "S", Pattern: `^([A-HJ-PR-UW-Z]{3})[ ]?([0-9]{2}[0-9A-HJ-NPR-UW-Z])$`},
	{Country: "N", Pattern: `^([A-Z]{2})[ ]([0-9]{5})$`, Electric: `^E[KLVBCDEF]`},
	{Country: "CZ", Pattern: `^([1-9][A-Z][0-9A-Z])[ ]([0-9]{4})$`, Region: 1},
	{Country: "GB", Pattern: `^([A-HJ-PR-Y]{2})([0-9]{2})[ ]([A-HJ-PR-Z]{3})$`, Region: 1},
	{Country: "IRL", Pattern: `^([0-9]{2,3})-(C|CE|CN|CW|D|G|KE|KK|KY|L|LH|LM|MH|MN)-([0-9]{1,6})$`, Region: 2},
}

// Match reports whether a plate looks like those of the country, and its region.
func (f Format) Match(plate string) (region string, ok bool) {
	groups := regexp.MustCompile(f.Pattern).FindStringSubmatch(plate)
	if groups == nil {
		return "", false
	}
	if f.Region > 0 {
		region = groups[f.Region]
	}
	return region, true
}

// IsElectric reports whether a plate that the format matches is of an electric vehicle.
func (f Format) IsElectric(plate string) bool {
	if f.Electric == "" {
		return false
	}
	ok, err := regexp.MatchString(f.Electric, plate)
	return err == nil && ok
}
