//go:build race

package jsonreply_test

const raceEnabled = true
