module github.com/redline-go/redline/kit/internal/versus2

go 1.26.0

replace github.com/redline-go/redline/kit => ../..

require (
	github.com/alitto/pond/v2 v2.7.1 // indirect
	github.com/failsafe-go/failsafe-go v0.9.8 // indirect
	github.com/panjf2000/ants/v2 v2.12.1 // indirect
	github.com/puzpuzpuz/xsync/v4 v4.5.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
)
