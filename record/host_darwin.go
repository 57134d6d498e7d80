package record

import "golang.org/x/sys/unix"

// hardware asks sysctl(3) for the CPU's model and the memory in bytes.
func hardware() (model string, memory int64) {
	model, _ = unix.Sysctl("machdep.cpu.brand_string")
	size, _ := unix.SysctlUint64("hw.memsize")
	return model, int64(size)
}
