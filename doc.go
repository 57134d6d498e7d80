// Package redline holds no code: the rooms of the house are the folders beside
// it, and house_test.go keeps their rules. Start at cmd/redline.
package redline
