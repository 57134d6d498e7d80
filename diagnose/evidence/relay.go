package evidence

import (
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/record/code"
	"github.com/redline-go/redline/record/operation"
	"github.com/redline-go/redline/record/statement"
)

// relays are what runs statements that it is given: neither asks for them.
type relays struct {
	lines map[site]bool   // with more than one statement, in a hook of a library's
	types map[string]bool // that stand for a database handle
	given map[site]bool   // at which a function passes on its own parameters, by the service's sources
}

func (p *Set) relaysOf(ops []operation.Operation) relays {
	given := map[site]bool{}
	var known code.Compiler
	if p.Record.ReadJSON(code.File, &known) == nil {
		for _, f := range known.Given {
			given[siteOf(f)] = true
		}
	}
	return relays{p.sharedSites(ops), p.handles(ops), given}
}

// askedFrom returns the place that asks for a statement: outside functions that pass on what they were
// given, outside the types that stand for a database handle, and outside a library's hook. A hook that retries or logs runs whatever the library was asked
// for, and the user's function further out asked for it; one with a statement of its own asks itself.
func (p *Set) askedFrom(stack []code.Frame, relays relays) (place code.Frame, ok bool) {
	place, ok = p.Stacks.Place(stack)
	for ok {
		outer := p.given(stack, relays)
		if outer == nil && relays.lines[siteOf(place)] {
			outer = p.Stacks.Outside(stack)
		}
		if outer == nil {
			break
		}
		stack = outer
		place, ok = p.Stacks.Place(stack)
	}
	return place, ok
}

// site is a place as a key: its frame's address and file do not matter.
type site struct {
	function string
	line     int
}

func siteOf(f code.Frame) site { return site{f.Function, int(f.Line)} }

// sharedSites returns the user's lines at which the service runs more than one statement.
func (p *Set) sharedSites(ops []operation.Operation) map[site]bool {
	first, shared := map[site]string{}, map[site]bool{}
	for _, o := range ops {
		if !statementKind(o.Kind) || o.Text == "" {
			continue
		}
		form := statement.Normal(o.Text)
		for _, c := range o.Callers {
			place, ok := p.Stacks.Place(c.Stack)
			if !ok {
				continue
			}
			at := siteOf(place)
			if before, seen := first[at]; seen && before != form {
				shared[at] = true
			} else {
				first[at] = form
			}
		}
	}
	return shared
}

// handleCalls are the calls of database/sql's handles that send a statement, without the suffix for a context.
var handleCalls = map[string]bool{"Exec": true, "Query": true, "QueryRow": true, "Prepare": true}

// handles returns the service's types that stand for a database handle: several of their methods send
// statements, each under the name of the call of database/sql that it stands for. They send what they
// are given, so that their callers ask. One such method may as well have a statement of its own.
func (p *Set) handles(ops []operation.Operation) map[string]bool {
	named, types := map[string]string{}, map[string]bool{}
	for _, o := range ops {
		for _, c := range o.Callers {
			place, ok := p.Stacks.Place(c.Stack)
			if !ok || !statementKind(o.Kind) || !p.Stacks.User(place) {
				continue
			}
			owner, call := method(place.Function)
			if !handleCalls[call] {
				continue
			}
			if before, seen := named[owner]; seen && before != call {
				types[owner] = true
			}
			named[owner] = call
		}
	}
	return types
}

// method splits a method's name into its type and itself, without the suffix for a context. A function
// that is no method has none.
func method(function string) (owner, name string) {
	pkg, name := callstack.Split(callstack.Enclosing(function))
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", ""
	}
	return pkg + "." + name[:i], strings.TrimSuffix(name[i+1:], "Context")
}

// given returns the part of a stack outside the function that passes on the statement, or outside the
// type that relays it; nil if the user's innermost call does neither, or nobody of the user's called it.
func (p *Set) given(stack []code.Frame, relays relays) []code.Frame {
	at := p.Stacks.Innermost(stack)
	if at < 0 {
		return nil
	}
	owner, _ := method(stack[at].Function)
	switch {
	case relays.given[siteOf(stack[at])]:
		// A closure passes on what the function around it was given.
		function := callstack.Enclosing(stack[at].Function)
		if i := slices.IndexFunc(stack[at:], func(f code.Frame) bool { return f.Function == function }); i > 0 {
			at += i
		}
		at++
	case relays.types[owner]:
		for at < len(stack) {
			if outer, _ := method(stack[at].Function); outer != owner {
				break
			}
			at++
		}
	default:
		return nil
	}
	if p.Stacks.Innermost(stack[at:]) < 0 {
		return nil
	}
	return stack[at:]
}
