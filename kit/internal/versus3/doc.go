// Package versus3 measures kit's pool, batch and jsonreply against the libraries and the
// plain forms that a service would use instead. It is a module of its own, outside of
// go.work, so that kit depends on none of them:
//
//	cd kit/internal/versus3 && GOWORK=off go test -run '^$' -bench .
//
// Each benchmark has one sub-benchmark per alternative, kind=NAME, for benchstat -col /kind.
package versus3
