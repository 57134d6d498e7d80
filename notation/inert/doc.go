// Package inert keeps text of unknown origin from doing anything where it is
// printed: names in a bundle (of functions, requests, statements, files) come from
// other people's programs, and a terminal or a CI system obeys control sequences in its input.
//
// There are two nets. Text and Fprintf make one line of a name, so that it cannot
// begin a line of its own; Writer stands at the process's edge, where all output
// passes, and lets no escape sequence and no workflow command through, whoever
// forgot to clean a name.
//
// Cleaning every string when a bundle is read was not done: judgement and JSON want
// names as they are.
package inert
