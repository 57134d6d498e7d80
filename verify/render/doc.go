// Package render writes a verify.Result: as text for a terminal, Markdown for a pull
// request, JUnit XML, SARIF 2.1.0 and workflow commands for CI systems.
//
// It takes a result and a writer, reads no file and decides nothing. Changes are
// relative with + as worse, written in percent; amounts have their unit. Names come
// from services and may hold anything: they pass package inert, so that they
// neither end a line nor drive a terminal. Errors are the writer's alone.
//
// How a change, its interval and a verdict are written is exported, because gobench and
// compare write theirs alike.
package render
