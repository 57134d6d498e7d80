// Package operation is the schema of operations.json: the target's requests to
// databases and other services, as hooks in the target counted them.
package operation
