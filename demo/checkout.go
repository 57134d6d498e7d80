package demo

import (
	"fmt"
	"os"
	"path/filepath"
)

// FindCheckout returns the nearest folder at or above dir that holds the lab's
// gateway.
func FindCheckout(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Stat(filepath.Join(at, "lab", "gateway", "main.go")); err == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("no lab/gateway at or above %s (hint: run it inside a checkout of redline)", dir)
		}
	}
}
