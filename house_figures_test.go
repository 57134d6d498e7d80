package redline_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rounded is a verb that decides by itself how many digits a figure has.
var rounded = regexp.MustCompile(`%[-+#0-9 ]*\.[0-9]+[feg]`)

// moment is where on its axis a run was, or how much of it is done.
var moment = regexp.MustCompile(`(%[0-9]*\.[0-9]f of )?%[0-9]*\.[0-9]f s\b`)

// ownDigits are the files that may round by themselves, each with its reason. A moment ("12.4 s", "3 of 10 s") is no
// figure that was measured, and may stand anywhere.
var ownDigits = map[string]string{
	"compare/flame_page.go":                 "lengths in CSS",
	"diagnose/passes/host/cold.go":          "a probability: its magnitude is what counts",
	"forecast/text.go":                      "errors of forecasts, compared in the third decimal",
	"history/text.go":                       "a probability, beside the level that it is compared with",
	"knee/render/words.go":                  "coefficients of a fit: far from one, and used by who calculates on",
	"record/histogram/log.go":               "a file format",
	"record/index/existing.go":              "the record imports no sibling, and what it writes here is text for a finding",
	"scenario/scalar/number.go":             "a limit, as it is typed",
	"tune/render/text.go":                   "cells of a map, one sign and whole percents wide",
	"diagnose/diagnosetest/expect.go":       "what a failing test prints",
	"diagnose/diagnosetest/corpus/score.go": "what a failing test prints",
}

// aloof are the rooms whose figures no user of the command reads beside others: benches, which write tables of
// their own, and what may import nothing of redline's.
var aloof = []string{"bench", "benchmark", "corpus", "kit", "lab", "probe", "scripts", "stat"}

// TestFiguresAreWrittenByNotation: one figure reads alike wherever it stands, because package notation writes it.
func TestFiguresAreWrittenByNotation(t *testing.T) {
	met := map[string]bool{}
	for _, s := range sources(t) {
		if s.test() || slices.Contains(aloof, s.room()) || strings.HasPrefix(s.path, "notation/") || !strings.Contains(s.path, "/") {
			continue
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if !ok || text.Kind != token.STRING {
				return true
			}
			for _, m := range rounded.FindAllString(moment.ReplaceAllString(text.Value, ""), -1) {
				if met[s.path] = true; ownDigits[s.path] == "" {
					t.Errorf("%s: %s rounds by itself: take package notation", s.set.Position(text.Pos()), m)
				}
			}
			return true
		})
	}
	for path := range ownDigits {
		if !met[path] {
			t.Errorf("%s rounds no figure by itself any more: take it off the list", path)
		}
	}
}
