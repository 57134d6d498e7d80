// Package scripts holds what builds, checks and releases this project. Its tests
// try what no other test can: that the module installs by its path, that a service
// may import the probe, that a release's bytes can be made again.
package scripts
