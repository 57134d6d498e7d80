// Package validate checks what callers send against patterns, compiled once or,
// as it is often found, at every use.
package validate

import "regexp"

// The patterns of the API's texts.
const (
	uidPattern      = `^[1-9][0-9]{0,9}$`
	ipPattern       = `^((25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])$|^[0-9a-fA-F:.]{2,45}$`
	idPattern       = `^[A-Za-z0-9_-]{8,64}$`
	currencyPattern = `^[A-Z]{3}$`
	cardPattern     = `^[0-9]{13,19}$`
	skuPattern      = `^[A-Z0-9][A-Z0-9-]{2,31}$`
	channelPattern  = `^(app|web|pos)$`
)

// Validator checks texts; make one with New.
type Validator struct {
	uid, ip, id, currency, card, sku, channel matcher
}

// matcher is one pattern.
type matcher interface{ MatchString(string) bool }

// lateMatcher compiles at every use.
type lateMatcher string

func (p lateMatcher) MatchString(s string) bool { return regexp.MustCompile(string(p)).MatchString(s) }

// New returns a validator that compiled its patterns, or one that compiles each
// whenever it needs it.
func New(once bool) *Validator {
	of := func(pattern string) matcher {
		if once {
			return regexp.MustCompile(pattern)
		}
		return lateMatcher(pattern)
	}
	return &Validator{of(uidPattern), of(ipPattern), of(idPattern), of(currencyPattern), of(cardPattern),
		of(skuPattern), of(channelPattern)}
}

// UID is a user's number, from 1, without leading zeros.
func (v *Validator) UID(s string) bool { return v.uid.MatchString(s) }

// ClientIP is an address as a proxy passes it on.
func (v *Validator) ClientIP(s string) bool { return v.ip.MatchString(s) }

// ID is a request id or an idempotency key.
func (v *Validator) ID(s string) bool { return v.id.MatchString(s) }

// Currency is an ISO 4217 code.
func (v *Validator) Currency(s string) bool { return v.currency.MatchString(s) }

// Card is a card number.
func (v *Validator) Card(s string) bool { return v.card.MatchString(s) }

// SKU is an item's stock-keeping unit.
func (v *Validator) SKU(s string) bool { return v.sku.MatchString(s) }

// Channel is where an order comes from.
func (v *Validator) Channel(s string) bool { return v.channel.MatchString(s) }
