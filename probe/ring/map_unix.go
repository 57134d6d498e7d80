//go:build linux || darwin

package ring

import (
	"os"
	"syscall"
)

func mapFile(f *os.File, size int) ([]byte, error) {
	mem, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return mem, os.NewSyscallError("mmap", err)
}

func unmap(mem []byte) error { return os.NewSyscallError("munmap", syscall.Munmap(mem)) }
