package machine

import (
	"context"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5" // PostgreSQL, as everywhere in redline
)

func calling(_ context.Context, _ *input, d time.Duration) (float64, error) {
	const n = 20_000
	return repeated(d, n, func() {
		for range n {
			kept.Add(int64(syscall.Getppid()))
		}
	}), nil
}

// piping sends a byte to another thread and back, with blocking calls past the runtime's
// poller: two system calls and a change of threads each way.
func piping(_ context.Context, _ *input, d time.Duration) (float64, error) {
	var there, back [2]int
	if err := syscall.Pipe(there[:]); err != nil {
		return 0, err
	}
	if err := syscall.Pipe(back[:]); err != nil {
		syscall.Close(there[0])
		syscall.Close(there[1])
		return 0, err
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		buffer := make([]byte, 1)
		for {
			if n, err := syscall.Read(there[0], buffer); n != 1 || err != nil {
				return
			}
			if _, err := syscall.Write(back[1], buffer); err != nil {
				return
			}
		}
	}()
	buffer := []byte{1}
	each, err := medianOf(d, 20, func() error {
		if _, err := syscall.Write(there[1], buffer); err != nil {
			return err
		}
		_, err := syscall.Read(back[0], buffer)
		return err
	})
	syscall.Close(there[1])
	<-ended
	for _, fd := range []int{there[0], back[0], back[1]} {
		syscall.Close(fd)
	}
	return each, err
}

// querying runs a statement without a table.
func querying(ctx context.Context, in *input, d time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, d+10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, in.Postgres)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	return medianOf(d, 5, func() error {
		var one int
		return conn.QueryRow(ctx, "SELECT 1").Scan(&one)
	})
}
