// Package serving holds the lab's experiments on servers and their clients, in one
// process and over loopback, and on how the runtime's settings affect them. As in
// package micro, each is a Go benchmark whose work is chosen by the side that runs it
// (micro.Of), and next to it is a test that its sides give the same answers, or that
// the literal form of a claim fails.
//
// Where the report had thousands of clients on other machines, these have some dozens
// on the same one: a ratio between two servers carries over better than a rate. Only
// the WebSockets are as many as the report had, in a process of their own, because each
// costs what it keeps. An experiment that cannot run on a host skips itself, and says
// what is missing.
package serving
