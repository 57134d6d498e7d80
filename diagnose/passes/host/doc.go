// Package host holds the analyzers of whether the measurement is valid and of
// the limits that the host and the container set: the generator, CPU quotas,
// GOMAXPROCS, descriptors, warm-up.
package host
