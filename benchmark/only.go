package benchmark

import (
	"fmt"
	"slices"
	"strings"
)

// Only returns the parts of a bench that one of its flags names, separated by commas: all
// of them for an empty text, an error for one that is not among them.
func Only(flag, text string, all []string) ([]string, error) {
	if text == "" {
		return all, nil
	}
	chosen := strings.Split(text, ",")
	for _, name := range chosen {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("%s: %q is none of %s", flag, name, strings.Join(all, ", "))
		}
	}
	return chosen, nil
}
