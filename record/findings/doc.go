// Package findings is the schema of findings.json: the causes that limit the service,
// ranked, with their evidence, and the ledger that accounts for all time and CPU.
//
// The findings are made by the room diagnose. Nothing is decided here.
package findings
