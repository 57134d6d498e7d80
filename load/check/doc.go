// Package check compares answers with a plan's expectations. It knows no
// protocol: whoever reads an answer hands over its header lines and the pieces
// of its body as they come, and gets one bit for each check that failed.
//
// Bodies are compared as they arrive. A body with a Content-Encoding is not
// decoded, because that would take CPU that the generator needs for the load: ask
// for identity in the plan's Accept-Encoding where bodies are checked.
//
// The part of an answer that a check keeps is bounded: 1 MiB of the body. A text is found in
// longer bodies too; a JSONPath fails there, and so does a text that the body must equal.
package check
