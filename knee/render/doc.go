// Package render writes the answer of a knee: as text for a terminal, and as Markdown
// for a page. It adds nothing to the decision.
package render
