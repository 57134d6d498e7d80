// Package reporttest has the synthetic runs that tests of reports and pages are drawn from: a
// service that waits for database connections, with every part of a bundle filled.
package reporttest
