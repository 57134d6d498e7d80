// Package findings is the schema of findings.json: the causes that limit the service,
// ranked, with their evidence, and the ledger that accounts for all time and CPU.
//
// Package diagnose makes the findings; nothing is decided here.
package findings
