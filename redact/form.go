package redact

import (
	"regexp"
	"slices"
	"strings"
)

// What is a secret wherever it stands. All patterns are RE2 and so linear.
var (
	// privateKey is a PEM block (RFC 7468), also one with escaped line breaks, and
	// to the end of the text where its last line was cut off.
	privateKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----|\z)`)

	// webToken is a JWS or JWE in compact form (RFC 7515, 7516), whole or cut:
	// its header is an object in base64url, and so begins with eyJ.
	webToken = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,4}`)

	// scheme is an authorization scheme with its credentials (RFC 9110, 11.4).
	scheme = regexp.MustCompile(`(?i)\b(bearer|basic|digest|negotiate|token|apikey|aws4-hmac-sha256)` +
		`((?:\s|%20|\+)+)([A-Za-z0-9+/=._~%:-]{6,})`)

	// makers are keys that their makers gave a prefix, so that they are found:
	//
	//	AWS        docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html (unique ids)
	//	GitHub     github.blog/2021-04-05-behind-githubs-new-authentication-token-formats
	//	GitLab     docs.gitlab.com/security/tokens (token prefixes)
	//	Slack      docs.slack.dev/authentication/tokens
	//	Stripe     docs.stripe.com/keys
	//	Google     cloud.google.com/docs/authentication/api-keys (AIza), OAuth (ya29., GOCSPX-)
	//	npm, PyPI  github.blog/2021-09-23-announcing-npms-new-access-token-format, docs.pypi.org
	//	SendGrid   SG.<22>.<43>; HashiCorp Vault hvs., hvb., hvr.; DigitalOcean do?_v1_
	//	Shopify    shopify.dev/changelog (shpat_, ...); Hugging Face hf_; Docker dckr_pat_
	//	OpenAI, Anthropic  sk-...; age AGE-SECRET-KEY-1; Linear lin_api_; Atlassian ATATT3
	makers = regexp.MustCompile(`\b(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|` +
		`gl(?:pat|oas|dt|rt|cbt|ptt|ft|imt|agent|soat)-[\w.-]{12,}|xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{8,}|xapp-[A-Za-z0-9-]{8,}|` +
		`(?:sk|rk|pk)_(?:live|test)_\w{8,}|whsec_[\w+/=]{8,}|AIza[\w-]{20,}|ya29\.[\w.-]{12,}|GOCSPX-[\w-]{12,}|` +
		`npm_[A-Za-z0-9]{20,}|pypi-[\w-]{16,}|SG\.[\w-]{12,}\.[\w-]{12,}|hv[sbr]\.[\w-]{12,}|do[opr]_v1_[a-f0-9]{16,}|` +
		`shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{16,}|hf_[A-Za-z0-9]{16,}|dckr_pat_[\w-]{12,}|sk-[A-Za-z0-9_-]{16,}|lin_api_\w{16,}|` +
		`ATATT3[\w=-]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{16,})`)

	// hashed are passwords as databases and crypt(3) keep them.
	hashed = regexp.MustCompile(`\$(?:2[abxy]|argon2(?:id|i|d)|[156y]|scrypt|pbkdf2[-\w]*)\$[A-Za-z0-9./+=,$-]{12,}|` +
		`SCRAM-SHA-(?:1|256)\$[A-Za-z0-9:+/=$]{12,}`)
)

// What a text holds one of when it may hold a match: looking for them costs a
// hundredth of a pattern.
var (
	schemeHints = strings.Fields("earer EARER asic ASIC igest IGEST egotiate EGOTIATE oken OKEN pikey piKey PIKEY AWS4 aws4")
	makerHints  = strings.Fields("AKIA ASIA ABIA ACCA ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ gl xox xapp- _live_ _test_ " +
		"whsec_ AIza ya29. GOCSPX- npm_ " +
		"pypi- SG. hvs. hvb. hvr. _v1_ shp hf_ dckr_pat_ sk- lin_api_ ATATT3 AGE-SECRET")
)

func holdsAny(text string, hints []string) bool {
	return slices.ContainsFunc(hints, func(hint string) bool { return strings.Contains(text, hint) })
}

// hideForms hides what is a secret by its form. The quick looks keep what most
// texts cost to a few scans.
func hideForms(text string) string {
	if strings.Contains(text, "-----BEGIN") {
		text = privateKey.ReplaceAllString(text, Mark)
	}
	if strings.Contains(text, "://") {
		text = hideUserinfo(text)
	}
	if strings.Contains(text, "eyJ") {
		text = webToken.ReplaceAllString(text, Mark)
	}
	if holdsAny(text, schemeHints) {
		text = scheme.ReplaceAllStringFunc(text, hideScheme)
	}
	if holdsAny(text, makerHints) {
		text = makers.ReplaceAllString(text, Mark)
	}
	if strings.ContainsRune(text, '$') {
		text = hashed.ReplaceAllString(text, Mark)
	}
	return text
}

// hideScheme hides credentials behind a scheme, but not the words of a sentence
// ("basic authentication", "token expired").
func hideScheme(match string) string {
	m := scheme.FindStringSubmatch(match)
	name, credentials := strings.ToLower(m[1]), m[3]
	sure := name == "bearer" || name == "basic" || name == "aws4-hmac-sha256"
	if plainWord(credentials) && (!sure || len(credentials) < 24) || strings.ContainsRune(credentials, '=') && name == "token" {
		return match
	}
	if !sure && !strings.ContainsAny(credentials, "0123456789") {
		return match
	}
	return m[1] + m[2] + Mark
}

// plainWord reports whether a text may be a word of a sentence: small letters,
// perhaps behind a capital, and what ends it.
func plainWord(text string) bool {
	text = strings.TrimRight(text, ".:-")
	for i := 0; i < len(text); i++ {
		if !('a' <= text[i] && text[i] <= 'z' || i == 0 && letter(text[i])) {
			return false
		}
	}
	return text != ""
}

// hideUserinfo hides the passwords of URLs (RFC 3986, 3.2.1), as text, so that
// it is found in what is no valid URL too: with quotes, slashes and signs in the
// password. A user without a password, or whose password is x-oauth-basic, may
// itself be a token, and is hidden when it looks like one.
func hideUserinfo(text string) string {
	var b strings.Builder
	for {
		at := strings.Index(text, "://")
		if at < 0 {
			break
		}
		at += len("://")
		b.WriteString(text[:at])
		text = text[at:]
		user, password, end := userinfo(text)
		if end == 0 {
			continue
		}
		switch {
		case password == "" || password == Mark:
			if tokenLike(user) {
				user = Mark
			}
			b.WriteString(user)
			if password != "" {
				b.WriteString(":" + Mark)
			}
		case placeholder(password):
			b.WriteString(text[:end])
		default:
			if password == "x-oauth-basic" || tokenLike(user) {
				user = Mark
			}
			b.WriteString(user + ":" + Mark)
		}
		text = text[end:]
	}
	b.WriteString(text)
	return b.String()
}

// userinfo returns user and password in front of the @ that ends them, at end; 0
// when there is none.
func userinfo(text string) (user, password string, end int) {
	const longest = 4096
	text = text[:min(len(text), longest)]
	if next := strings.Index(text, "://"); next >= 0 {
		text = text[:next] // another URL begins: its scheme cannot hold an @
	}
	if stop := strings.IndexAny(text, " \t\r\n<>"); stop >= 0 {
		text = text[:stop]
	}
	authority := len(text)
	if slash := strings.IndexAny(text, "/?#"); slash >= 0 {
		authority = slash
	}
	colon := strings.IndexByte(text[:authority], ':')
	if colon >= 0 && port(text[colon+1:authority]) {
		return "", "", 0
	}
	end = strings.LastIndexByte(text[:authority], '@')
	if end < 0 && colon >= 0 {
		// The password itself may hold a slash.
		end = strings.IndexByte(text, '@')
	}
	if end < 0 {
		return "", "", 0
	}
	user, password, _ = strings.Cut(text[:end], ":")
	if strings.ContainsAny(user, `"',;(){}`) || strings.ContainsAny(user, "/?#") {
		return "", "", 0 // the @ belongs to something else
	}
	return user, password, end
}

// port reports whether a text begins with a port and what may follow one.
func port(text string) bool {
	n := 0
	for n < len(text) && digit(text[n]) {
		n++
	}
	return n > 0 && n <= 5 && (n == len(text) || strings.IndexByte(`"',;)]}\`, text[n]) >= 0)
}

// tokenLike reports whether a text is more likely drawn at random than chosen:
// long, without a path's slashes, of letters and digits that change often.
func tokenLike(text string) bool {
	if len(text) < 20 {
		return false
	}
	var digits, letters, changes int
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case digit(c):
			digits++
		case letter(c):
			letters++
		case strings.IndexByte("_-+=.", c) < 0:
			return false
		}
		if i > 0 && class(c) != class(text[i-1]) {
			changes++
		}
	}
	return digits >= 2 && letters >= 2 && changes*4 >= len(text)
}

func class(c byte) byte {
	switch {
	case digit(c):
		return '0'
	case 'A' <= c && c <= 'Z':
		return 'A'
	case letter(c):
		return 'a'
	}
	return '-'
}
