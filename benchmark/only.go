package benchmark

import (
	"fmt"
	"slices"
	"strings"
)

// Only returns the parts of a bench that its flag -only names, separated by commas: all
// of them for an empty text, an error for one that is not among them.
func Only(text string, all []string) ([]string, error) {
	if text == "" {
		return all, nil
	}
	chosen := strings.Split(text, ",")
	for _, name := range chosen {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("-only: %q is none of %s", name, strings.Join(all, ", "))
		}
	}
	return chosen, nil
}
