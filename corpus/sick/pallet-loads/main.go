// Command pallet-loads says how boxes go on a lorry.
package main

import (
	"os"

	"go.uber.org/zap"

	"github.com/redline-go/redline/corpus/sick/pallet-loads/internal/loading"
	"github.com/redline-go/redline/corpus/sick/pallet-loads/internal/logs"
	"github.com/redline-go/redline/corpus/sick/pallet-loads/internal/web"
)

func main() {
	var opts []logs.Option
	if os.Getenv("FIXED") == "1" {
		opts = append(opts, logs.Quiet())
	}
	log, err := logs.New(opts...)
	if err != nil {
		panic(err)
	}
	defer func() { _ = log.Sync() }()
	e := web.New(loading.NewPlanner(log.Named("loading"), loading.Lorry{Height: 270, Width: 245, Length: 1360}), log)
	if err := e.Start("127.0.0.1:23604"); err != nil {
		log.Error("listen", zap.Error(err))
	}
}
