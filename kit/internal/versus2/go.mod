module github.com/redline-go/redline/kit/internal/versus2

go 1.26.0

replace github.com/redline-go/redline/kit => ../..

require (
	github.com/alitto/pond/v2 v2.7.1
	github.com/failsafe-go/failsafe-go v0.9.8
	github.com/panjf2000/ants/v2 v2.12.1
	github.com/puzpuzpuz/xsync/v4 v4.5.0
	github.com/redline-go/redline/kit v0.0.0
	golang.org/x/sync v0.24.0
)

require (
	github.com/bits-and-blooms/bitset v1.24.4 // indirect
	github.com/influxdata/tdigest v0.0.1 // indirect
)
