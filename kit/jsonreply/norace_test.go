//go:build !race

package jsonreply_test

const raceEnabled = false
