// Package breakdown is the schema of anatomy.json: where the requests inside the
// execution traces spent their time, by state, by site and along the critical path.
//
// Package anatomy makes the figures; this package only has their types, units and names.
package breakdown
