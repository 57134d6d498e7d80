package service

import (
	"fmt"
	"slices"
	"strings"
)

// taking are the flags of go build that take the next word as their value
// (go help build; the boolean ones never do).
var taking = []string{
	"asmflags", "buildmode", "compiler", "covermode", "coverpkg", "gccgoflags", "gcflags", "installsuffix",
	"ldflags", "mod", "modfile", "p", "pgo", "pkgdir", "tags", "toolexec",
}

// refused are the flags of go build that redline sets itself, or under which there is
// nothing to run, with the reason.
var refused = map[string]string{
	"C":       "name the folder with --build instead",
	"o":       "redline says where the binary goes",
	"overlay": "redline needs it to inject the probe; start your own binary with --exec",
	"n":       "it builds nothing",
	"json":    "redline reads the build's output",
	"h":       "it builds nothing",
	"help":    "it builds nothing",
	"work":    "redline removes the build's temporary files",
	"exec":    "it is a flag of go run",
}

// goFlags returns flags of go build in the form of GOFLAGS, one word each, -name=value,
// in quotes if there is a space; "" for none. Through that variable all of redline's go
// commands see the same packages.
func goFlags(flags []string) (string, error) {
	var words []string
	for i := 0; i < len(flags); i++ {
		name, value, has := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(flags[i], "-"), "-"), "=")
		switch why := refused[name]; {
		case !strings.HasPrefix(flags[i], "-") || name == "":
			return "", fmt.Errorf("%q is not a flag of go build (hint: the package goes to --build, and the target's own "+
				"arguments after --)",
				flags[i])
		case why != "":
			return "", fmt.Errorf("-%s cannot be used in a build by redline: %s", name, why)
		}
		if !has && slices.Contains(taking, name) {
			if i++; i == len(flags) {
				return "", fmt.Errorf("-%s has no value", name)
			}
			value, has = flags[i], true
		}
		word := "-" + name
		if has {
			word += "=" + value
		}
		quoted, err := quote(word)
		if err != nil {
			return "", err
		}
		words = append(words, quoted)
	}
	return strings.Join(words, " "), nil
}

// quote puts a word into quotes in the form of cmd/internal/quoted: there are no
// escapes, so a word may hold only one kind of quotes.
func quote(word string) (string, error) {
	switch {
	case !strings.ContainsAny(word, " \t\n\r'\""):
		return word, nil
	case !strings.Contains(word, "'"):
		return "'" + word + "'", nil
	case !strings.Contains(word, `"`):
		return `"` + word + `"`, nil
	}
	return "", fmt.Errorf("%.60q contains both kinds of quotes, which a build flag cannot", word)
}

// unquote splits GOFLAGS into its words, as cmd/internal/quoted does: a word that begins with a quote ends with the same one.
func unquote(flags string) (words []string, err error) {
	const blanks = " \t\n\r"
	for rest := strings.TrimLeft(flags, blanks); rest != ""; rest = strings.TrimLeft(rest, blanks) {
		if rest[0] == '\'' || rest[0] == '"' {
			word, after, closed := strings.Cut(rest[1:], rest[:1])
			if !closed {
				return nil, fmt.Errorf("%.60q has no end of its quotes", rest)
			}
			words, rest = append(words, word), after
			continue
		}
		end := strings.IndexAny(rest+" ", blanks)
		words, rest = append(words, rest[:end]), rest[end:]
	}
	return words, nil
}
