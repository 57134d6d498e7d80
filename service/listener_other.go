//go:build !linux

package service

import (
	"errors"
	"net"
)

func listeningProcess([]net.IP, string, int) (int, error) {
	return 0, errors.New("finding the listening process works only on Linux")
}

func listens(int) ([]net.TCPAddr, error) {
	return nil, errors.New("finding where a process listens works only on Linux")
}
