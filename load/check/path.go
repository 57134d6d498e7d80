package check

import "errors"

type path struct{}

func newPath(text string) (*path, error) { return nil, errors.New("JSONPath checks are not built in") }

type document struct{ root any }

func (d *document) parse(body []byte) bool { return false }

func (p *path) holds(root any, c *compiled) bool { return false }
