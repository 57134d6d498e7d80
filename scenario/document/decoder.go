package document

import (
	"io/fs"
	"slices"

	"github.com/goccy/go-yaml/ast"

	"github.com/redline-go/redline/scenario"
	"github.com/redline-go/redline/scenario/mistake"
)

// decoder walks the syntax tree. It continues after a mistake, so that a person
// sees all of them at once; the plan is only usable if there is none.
type decoder struct {
	file  string
	lines []string
	fsys  fs.FS
	env   func(string) (string, bool)
	plan  *scenario.Plan
	errs  mistake.Errors
	// nodes holds the nodes of keys that Validate may find in conflict.
	nodes map[string]ast.Node
	// replayAt is load.replay, which needs the feeders.
	replayAt ast.Node
}

// key is one entry that a mapping may hold: a decoder for the value, or the reason why
// this version does not know it.
type key struct {
	name   string
	decode func(*decoder, ast.Node)
	later  bool // of a later version
}

// mapping decodes a mapping of known keys and returns those that were there.
func (d *decoder) mapping(n ast.Node, where string, keys []key) map[string]ast.Node {
	seen := map[string]ast.Node{}
	for _, entry := range d.entries(n, where) {
		name, ok := d.keyText(entry)
		if !ok {
			continue
		}
		i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
		switch {
		case i < 0:
			d.fail(entry.Key, mistake.DidYouMean(name, keyNames(keys)), "unknown key %q in %s", name, where)
		case keys[i].later:
			d.fail(entry.Key, "", "%s is not supported by this version of redline", name)
		default:
			seen[name] = entry.Key
			if keys[i].decode != nil {
				keys[i].decode(d, entry.Value)
			}
		}
	}
	return seen
}

func keyNames(keys []key) []string {
	var names []string
	for _, k := range keys {
		if !k.later {
			names = append(names, k.name)
		}
	}
	return names
}

// entries returns a mapping's entries. A null is an empty mapping.
func (d *decoder) entries(n ast.Node, where string) []*ast.MappingValueNode {
	switch n := n.(type) {
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	case *ast.NullNode, nil:
		return nil
	}
	d.unfit(n, where, "keys with values", "")
	return nil
}

func (d *decoder) keyText(entry *ast.MappingValueNode) (string, bool) {
	switch k := entry.Key.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
		return k.GetToken().Value, true
	}
	d.fail(entry.Key, "", "a key must be plain text")
	return "", false
}

// elements returns a sequence's values.
func (d *decoder) elements(n ast.Node, where string) []ast.Node {
	switch n := n.(type) {
	case *ast.SequenceNode:
		return n.Values
	case *ast.NullNode, nil:
		return nil
	}
	d.unfit(n, where, "a list", "put it in [ ], or on lines that begin with -")
	return nil
}

// text returns a scalar's text: numbers and booleans as they are written.
func (d *decoder) text(n ast.Node, where string) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		if n.Value != nil {
			return n.Value.Value, true
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	hint := ""
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		hint = "put text that holds { or : in quotes"
	}
	d.unfit(n, where, "text", hint)
	return "", false
}

// parsed decodes a text through parse, whose error is placed at the node.
func parsed[T any](d *decoder, n ast.Node, where string, to *T, parse func(string) (T, error)) {
	text, ok := d.text(n, where)
	if !ok {
		return
	}
	v, err := parse(text)
	if err != nil {
		d.failErr(n, where, err)
		return
	}
	*to = v
}

// texts decodes a list of texts.
func (d *decoder) texts(n ast.Node, where string) []string {
	var all []string
	for _, e := range d.elements(n, where) {
		if text, ok := d.text(e, where); ok {
			all = append(all, text)
		}
	}
	return all
}

// unfit notes that a node has the wrong kind.
func (d *decoder) unfit(n ast.Node, where, wanted, hint string) {
	switch n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode, *ast.TagNode:
		d.fail(n, "write the value out", "%s: anchors, aliases and tags are not supported", where)
		return
	}
	d.fail(n, hint, "%s is %s, not %s", where, describe(n), wanted)
}

// describe names a node's kind, for a person.
func describe(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "empty"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	}
	return "text"
}

// orNode is the first node that is there.
func orNode(nodes ...ast.Node) ast.Node {
	for _, n := range nodes {
		if n != nil {
			return n
		}
	}
	return nil
}
