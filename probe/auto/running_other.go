//go:build !linux && !darwin

package auto

func running(int) bool { return true }
