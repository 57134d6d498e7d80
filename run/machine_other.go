//go:build !linux

package run

import "github.com/redline-go/redline/record"

// system examines this process's limits in the operating system.
func system() []Check {
	host := record.HostInfo()
	return []Check{{Name: "kernel", Value: host.OS + " " + host.Kernel, Advice: "process, container and kernel figures exist " +
		"only on Linux"}}
}
