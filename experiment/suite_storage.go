package experiment

import "github.com/redline-go/redline/experiment/servers"

// more are the servers of an experiment on databases besides PostgreSQL, by ID.
var more = map[string][]string{
	"D-tx-scope.split": {servers.Replica},
	"A-xa":             {servers.Redis},
}

// storage are the experiments on databases.
var storage = []Experiment{}
