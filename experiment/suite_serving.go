package experiment

// serving are the experiments on servers and clients over loopback.
var serving = []Experiment{}
