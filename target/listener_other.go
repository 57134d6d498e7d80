//go:build !linux

package target

import "errors"

func listeningProcess(string, int) (int, error) {
	return 0, errors.New("finding the listening process works only on Linux")
}
