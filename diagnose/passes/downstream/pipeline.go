package downstream

import (
	"fmt"
	"slices"
	"strings"

	"github.com/redline-go/redline/diagnose"
	"github.com/redline-go/redline/diagnose/callstack"
	"github.com/redline-go/redline/diagnose/evidence/usage"
	"github.com/redline-go/redline/diagnose/laws"
	"github.com/redline-go/redline/record/findings"
	"github.com/redline-go/redline/record/operation"
)

const (
	// leastRepeated is the mean number of calls along one path from which they are one command for each element, as for statements.
	leastRepeated = 2.5
	// mostInStore is the part of the calls' time that must go to a store's repeated commands.
	mostInStore = 0.8
)

// repeatsCommands returns the finding for calls that are mostly the same command to a key-value store, again and again: its protocol
// takes many commands at once, so the remedy is that of a repeated statement. ok is false for other calls.
func (s sequence) repeatsCommands(p *diagnose.Pass) (f diagnose.Finding, ok bool) {
	repeated := sequence{whole: s.whole}
	for _, c := range s.calls {
		if c.calls[mean] >= leastRepeated && p.Stacks.Roles(c.stack).Has(callstack.Store) {
			repeated.calls, repeated.ns, repeated.n = append(repeated.calls, c), repeated.ns+c.ns[mean], repeated.n+c.calls[mean]
			repeated.longest = max(repeated.longest, c.each())
		}
	}
	if s.own || repeated.ns < mostInStore*s.ns {
		return f, false
	}
	n := repeated.counted(p)
	place := common(repeated.calls, callstack.LinesOf(p.Sources().Loops))
	at, share := diagnose.At(place), min(1, repeated.ns/s.whole)
	client, writes := repeated.command(p)
	f = diagnose.Finding{
		Cause: "db-n-plus-one", Share: share, ShareOf: diagnose.OfRequest, Confidence: findings.High, Where: diagnose.WhereOf(place),
		Title: fmt.Sprintf("Each request sends %s commands to %s one by one at %s; that takes %s of its time", diagnose.Times(n),
			client.store, at, diagnose.Percent(share)),
		Remedy: fmt.Sprintf("Send the commands of a request together (%s), or read all keys with one command%s.", client.pipeline,
			client.many),
	}
	if writes {
		f.Cause = "db-unbatched-write"
		f.Title = fmt.Sprintf("Each request writes to %s %s times, one by one, at %s; that takes %s of its time", client.store,
			diagnose.Times(n), at, diagnose.Percent(share))
		f.Remedy = fmt.Sprintf("Send the writes of a request together (%s).", client.pipeline)
	}
	f.Where.Detail = usage.PathWords(repeated.calls[0].chain)
	queued, behind := repeated.queued(p)
	diagnose.Promise(&f, repeated.together(p, n, queued))
	f.Evidence = append(f.Evidence, repeated.evidence(p)...)
	repeated.underLock(p, &f, queued, behind)
	return f, true
}

// piped is the advice for several commands to one store that are not the same; "" if calls go elsewhere.
func (s sequence) piped(p *diagnose.Pass) string {
	for _, c := range s.calls {
		if !p.Stacks.Roles(c.stack).Has(callstack.Store) {
			return ""
		}
	}
	by, _ := s.command(p)
	if by.script != "" {
		return fmt.Sprintf("If no command needs the response to the one before it, send them to %s together (%s). If one does, let a "+
			"script on the server do it all in one round trip (%s). Otherwise: ", by.store, by.pipeline, by.script)
	}
	return fmt.Sprintf("If no command needs the response to the one before it, send them to %s together (%s). Otherwise: ",
		by.store, by.pipeline)
}

// together bounds what sending the commands at once gains: one round trip remains, and what the client does for one. How much of the
// store's CPU goes with the rest is not known: all of it where reading and answering is most of its work, nothing where executing is.
// queued is the part of request time, 0 to 1, behind a lock that is held meanwhile.
func (s sequence) together(p *diagnose.Pass, n, queued float64) laws.Gain {
	saved, own := min(1, s.saved()/s.whole+queued*s.saved()/s.ns), 0.0
	sent := map[string]bool{} // several paths may lead through one function that sends
	for _, c := range s.calls {
		i := p.Stacks.Innermost(c.stack)
		if i < 1 || sent[c.stack[i].Function] {
			continue
		}
		sent[c.stack[i].Function] = true
		own += p.SparedBelow(c.stack[i].Function, c.stack[i-1].Function)
	}
	own = min(1, own) * (1 - 1/n)
	most, least := p.Unasked(saved, own), p.Polled(saved, own)
	if least.Factor < most.Factor {
		most.Low, most.High, most.AtLeast = least.Factor, max(most.High, most.Factor), false
	}
	return most
}

// storeClient is how a library talks to a store.
type storeClient struct {
	pkg, store, pipeline, many string
	script                     string // what runs a script; "" without
}

// storeClients are the libraries whose interface for many commands is known, by the beginnings of their packages. The last is for the rest.
var storeClients = []storeClient{
	{"github.com/redis/go-redis/", "Redis", "Pipelined", " (MGET, HMGET)", "Eval"},
	{"github.com/go-redis/redis/", "Redis", "Pipelined", " (MGET, HMGET)", "Eval"},
	{"github.com/gomodule/redigo/", "Redis", "Send for each, then Flush and Receive", " (MGET, HMGET)", "NewScript"},
	{"github.com/garyburd/redigo/", "Redis", "Send for each, then Flush and Receive", " (MGET, HMGET)", "NewScript"},
	{"github.com/redis/rueidis/", "Redis", "DoMulti", " (MGET, HMGET)", "NewLuaScript"},
	{"github.com/mediocregopher/radix/", "Redis", "a pipeline", " (MGET, HMGET)", "EVAL"},
	{"github.com/bradfitz/gomemcache/", "memcached", "concurrently, because memcached's writes take one key each", " (GetMulti)", ""},
	{"", "the store", "a pipeline or a transaction of several operations", "", ""},
}

// writeCommands are the beginnings of commands and methods that write, in lower case, and of the names of functions that send one.
var writeCommands = []string{
	"add", "put", "save", "store", "write", "push", "insert", "update", "delete", "remove", "set", "mset", "getset", "hset",
	"hmset", "hincr", "hdel", "zadd", "zincr", "zrem", "sadd", "srem", "lpush", "rpush", "ltrim", "incr", "decr", "expire",
	"pexpire", "del", "unlink", "append", "xadd", "publish", "pfadd", "ts.add", "tsadd", "touch",
}

// command returns the client that the longest calls go through, and whether they write, by the command that the hooks count or
// else by the name of the client's method.
func (s sequence) command(p *diagnose.Pass) (by storeClient, writes bool) {
	method := ""
	for _, f := range s.calls[0].stack {
		if p.Stacks.Role(f.Function).Has(callstack.Store) {
			pkg, name := callstack.Split(f.Function)
			at := slices.IndexFunc(storeClients, func(c storeClient) bool { return strings.HasPrefix(pkg+"/", c.pkg) })
			by, method = storeClients[at], name[strings.LastIndex(name, ".")+1:]
		}
		if method != "" && p.Stacks.User(f) {
			break // further in, it is a hook or a connection that the client uses
		}
	}
	if ops := p.Operations(); ops != nil {
		most := 0.0
		for o, ns := range s.operations(ops) {
			if o.Kind == operation.Redis && ns > most {
				most, method = ns, o.Text
			}
		}
	}
	if slices.Contains([]string{"Do", "DoContext", "Process", "process"}, method) {
		method = s.calls[0].chain[0].Function // the command is a value; what the service calls the function says what it does
		method = method[strings.LastIndex(method, ".")+1:]
	}
	method = strings.ToLower(method)
	return by, slices.ContainsFunc(writeCommands, func(w string) bool { return strings.HasPrefix(method, w) })
}

// evidence says how often each path is taken, and by whom.
func (s sequence) evidence(p *diagnose.Pass) (facts []findings.Evidence) {
	if by := s.calls[0].by; by != "" {
		facts = append(facts, diagnose.Fact(diagnose.FromTrace, s.ns, diagnose.Nanosec,
			"requests wait for %s, which makes the calls", callstack.Short(by)))
	}
	for _, c := range s.calls[:min(4, len(s.calls))] {
		times := max((sequence{calls: []call{c}, n: c.calls[mean]}).counted(p), 1e-3)
		facts = append(facts, diagnose.Fact(diagnose.FromTrace, c.ns[mean], diagnose.Nanosec,
			"%s: %s, %s each", usage.PathWords(c.chain), diagnose.PerRequest(times, "a call", "calls"), diagnose.Span(c.ns[mean]/times)))
	}
	return facts
}
