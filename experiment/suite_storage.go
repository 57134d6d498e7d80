package experiment

// storage are the experiments on databases.
var storage = []Experiment{}
