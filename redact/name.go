package redact

import "strings"

// A name is examined word by word: "X-Auth-Token", "sessionId" and
// "DB_PASSWORD" have two or three. So "pin" is a secret and "pinned" is none,
// "auth" is and "author" is not.

// certainty is how surely a name says secret.
type certainty int

const (
	innocent certainty = iota
	// perhaps is a name that texts use for other things too (code, key, session,
	// token): whether it hides depends on the place and on the value.
	perhaps
	certain
)

// certainWords make a name certain wherever they stand in it.
var certainWords = set("password passwords passwd passphrase pass pwd secret secrets credential credentials apikey apisecret accesskey " +
	"secretkey privatekey authorization authentication cookie cookies cvv cvc otp totp jwt bearer assertion " +
	"webhooksecret signingkey pgpassword dsn passcode")

// perhapsWords count as a name's last word, or before what only says how the
// value is written (session_id, sig_hex).
var perhapsWords = set("pin code auth session sessionid sid sig signature token tokens key csrf xsrf pw nonce mac hmac sas verifier")

// glued are certain also within a word: they are written for nothing else.
var glued = []string{"password", "passwd", "passphrase", "secret", "credential", "apikey", "accesskey",
	"privatekey", "accesstoken", "authtoken", "refreshtoken", "sessiontoken", "idtoken"}

// writtenAs says how a value is written, not what it is.
var writtenAs = set("id value data hash hex base64 b64 raw text string header param enc encoded plain new old " +
	"current confirmation 1 2 next previous")

// aspects as a name's last word make it one about a secret: its place, age or
// number.
var aspects = set("file path dir url uri endpoint type kind count length len size limit ttl age expiry expires " +
	"expiration timeout interval " +
	"status enabled required policy algorithm alg name field column sock socket agent manager mode version max min total " +
	"ms seconds attempts failures errors rate")

// codes are the names whose code is an answer of a person or a server, not a
// status.
var codes = set("auth authorization authorisation oauth verification otp access security device user mfa sms login invite reset")

// ofName returns how surely a name says secret.
func ofName(name string) certainty {
	all := words(name)
	if len(all) == 0 {
		return innocent
	}
	for len(all) > 1 && writtenAs[all[len(all)-1]] {
		all = all[:len(all)-1]
	}
	last := all[len(all)-1]
	if aspects[last] && len(all) > 1 {
		return innocent
	}
	joined := strings.Join(all, "")
	for _, part := range glued {
		if strings.Contains(joined, part) {
			return certain
		}
	}
	for _, word := range all {
		if certainWords[word] {
			return certain
		}
	}
	switch {
	case last == "code" && len(all) > 1:
		if codes[all[len(all)-2]] {
			return perhaps
		}
		return innocent
	case last == "key" && len(all) > 1:
		return ofKey(all[len(all)-2])
	case perhapsWords[last]:
		return perhaps
	}
	return innocent
}

// ofKey is how surely a key of a kind is one that opens.
func ofKey(kind string) certainty {
	switch kind {
	case "api", "access", "private", "signing", "encryption", "master", "account", "license", "ssh", "tls", "shared":
		return certain
	case "primary", "foreign", "public", "cache", "partition", "sort", "group", "routing", "row", "map", "object", "idempotency":
		return innocent
	}
	return perhaps
}

// headerName reports whether the value of a header, a cookie or a column of data
// is hidden: a word that is perhaps secret is enough, wherever it stands.
func headerName(name string) bool {
	if ofName(name) != innocent {
		return true
	}
	for _, word := range words(name) {
		switch word {
		case "auth", "session", "jwt", "authenticate", "sid", "csrf", "xsrf":
			return true
		}
	}
	return false
}

// words splits a name at what is no letter or digit, and where capitals begin.
func words(name string) []string {
	const longest = 128
	if len(name) > longest {
		name = name[len(name)-longest:]
	}
	var all []string
	from := -1
	end := func(at int) {
		if from >= 0 && at > from {
			all = append(all, strings.ToLower(name[from:at]))
		}
		from = -1
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !letter(c) && !digit(c) {
			end(i)
			continue
		}
		upper := 'A' <= c && c <= 'Z'
		if from >= 0 && upper {
			before := name[i-1]
			lowerNext := i+1 < len(name) && 'a' <= name[i+1] && name[i+1] <= 'z'
			if !('A' <= before && before <= 'Z') || lowerNext {
				end(i)
			}
		}
		if from < 0 {
			from = i
		}
	}
	end(len(name))
	return all
}

func set(text string) map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(text) {
		m[word] = true
	}
	return m
}

func digit(c byte) bool  { return '0' <= c && c <= '9' }
func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
