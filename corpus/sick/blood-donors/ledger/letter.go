package ledger

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
)

var seal = []byte("the seal of the blood bank, which is kept elsewhere in earnest")

// letter thanks a donor. Its number cannot be guessed: it is stretched, as the bank's rules ask for.
func letter(name string, ml int, place string) string {
	text := fmt.Appendf(nil, "Dear %s, thank you for %d ml in %s.", name, ml, place)
	number := text
	for range 500 {
		m := hmac.New(sha512.New, seal)
		_, _ = m.Write(number)
		number = m.Sum(nil)
	}
	return string(text) + " No. " + hex.EncodeToString(number[:10])
}
