// Package breakdown is the schema of anatomy.json: where the requests inside the
// execution traces spent their time, by state, by site and along the critical path.
//
// The figures are made by the room anatomy. Here are their shapes, units and names alone.
package breakdown
