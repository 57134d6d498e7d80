package compiler

// Read is read.
var Read = read
