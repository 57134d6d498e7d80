package demo

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/redline-go/redline/demo/ladder"
	"github.com/redline-go/redline/record/timebase"
	"github.com/redline-go/redline/service"
	"github.com/redline-go/redline/service/gateway"
)

// The sample of requests that each variant must answer as the naive one does: reads of
// users that nobody writes to, and orders that are made, read and reversed again.
const (
	sampleReaders = 40
	sampleWriters = 4
	// mostAnswer bounds an answer of the sample, in bytes.
	mostAnswer = 1 << 20
)

// sampleUser is a user of the sample with the token that the gateway takes.
type sampleUser struct{ id, token string }

// users returns readers and writers, none of whom is in the scenario's feeder: that has
// each tenth user, from the first.
func (c *climb) users(ctx context.Context) (readers, writers []sampleUser, err error) {
	out, err := gateway.Command(ctx, c.binary, []string{"GATEWAY_JWT_SECRET="}, "tokens", "--n", "20000")
	if err != nil {
		return nil, nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(out)).ReadAll()
	if err != nil {
		return nil, nil, fmt.Errorf("read the gateway's tokens: %w", err)
	}
	if len(rows) < 20_001 {
		return nil, nil, fmt.Errorf("the gateway wrote %d rows of tokens, 20001 are needed", len(rows))
	}
	for i := range sampleReaders {
		row := rows[1+1+i*400] // users 2, 402, 802 ...
		readers = append(readers, sampleUser{row[0], row[1]})
	}
	for i := range sampleWriters {
		row := rows[1+2+i*4000] // users 3, 4003 ...
		writers = append(writers, sampleUser{row[0], row[1]})
	}
	return readers, writers, nil
}

// same holds a variant's answers to the sample against the naive service's, and returns
// how many they are.
func (c *climb) same(ctx context.Context, name string, env map[string]string) (int, error) {
	c.phase("comparing answers of " + name + " with those of the service as found")
	if c.naive == nil {
		base, err := switches(c.remedies, []ladder.Step{first(c.Ladder)})
		if err != nil {
			return 0, err
		}
		if c.naive, err = c.sample(ctx, base); err != nil {
			return 0, fmt.Errorf("sample of the service as found: %w", err)
		}
	}
	// Of the first rung as well: a sample that differs from launch to launch shows nothing.
	answers, err := c.sample(ctx, env)
	if err == nil {
		err = ladder.Same(c.naive, answers)
	}
	if err != nil {
		return 0, fmt.Errorf("step %q: %w", name, err)
	}
	return len(answers), nil
}

// sample starts a variant on the first copy and asks it for the sample.
func (c *climb) sample(ctx context.Context, env map[string]string) ([]ladder.Answer, error) {
	plan, err := c.plan(0, env)
	if err != nil {
		return nil, err
	}
	readers, writers, err := c.users(ctx)
	if err != nil {
		return nil, err
	}
	clock, err := timebase.Start()
	if err != nil {
		return nil, err
	}
	target, err := service.Start(ctx, service.Options{
		Target: plan.Target, URL: string(plan.Requests[0].URL), Clock: clock, Window: timebase.DefaultWindow,
		Blind: true, Binary: c.binary,
	})
	if err != nil {
		return nil, err
	}
	defer target.End()
	client := &http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	base := strings.TrimSuffix(plan.Target.Ready, "/healthz")
	askers := make([]asker, len(readers)+len(writers))
	var asking sync.WaitGroup
	for first := range atOnce {
		asking.Go(func() {
			for i := first; i < len(askers); i += atOnce {
				a := &askers[i]
				*a = asker{ctx: ctx, base: base, client: client}
				if i < len(readers) {
					a.read(readers[i])
				} else {
					a.write(writers[i-len(readers)])
				}
			}
		})
	}
	asking.Wait()
	var answers []ladder.Answer
	for _, a := range askers {
		if a.err != nil {
			return nil, a.err
		}
		answers = append(answers, a.answers...)
	}
	return answers, nil
}

// atOnce is how many users of the sample ask at a time: one and the next while it waits, on two cores.
const atOnce = 4

// asker sends a user's requests one after the other. The first error stands.
type asker struct {
	ctx     context.Context
	base    string
	client  *http.Client
	answers []ladder.Answer
	err     error
}

// newOrder is what a writer of the sample orders.
const newOrder = `{"merchant_id":7,"channel":"app","currency":"EUR","card_number":"4000000112345678",` +
	`"items":[{"sku":"SKU-1","name":"Adapter","quantity":2,"unit_price_cents":1999},` +
	`{"sku":"SKU-2","name":"Cups","quantity":1,"unit_price_cents":2450}]}`

// read asks for orders and balance, and for the orders again, which a cache has then.
func (a *asker) read(u sampleUser) {
	a.ask(u, http.MethodGet, "/api/v1/order?uid="+u.id, "", false)
	a.ask(u, http.MethodGet, "/api/v1/balance?uid="+u.id, "", false)
	a.ask(u, http.MethodGet, "/api/v1/order?uid="+u.id, "", false)
}

// write makes an order and reverses it, and reads order and balance after each.
func (a *asker) write(u sampleUser) {
	id := a.ask(u, http.MethodPost, "/api/v1/orders", newOrder, true)
	read := func() {
		a.ask(u, http.MethodGet, "/api/v1/order?uid="+u.id, "", true)
		a.ask(u, http.MethodGet, "/api/v1/balance?uid="+u.id, "", true)
	}
	read()
	for range 2 { // a reversal may be repeated, and gives the money back once
		a.ask(u, http.MethodPost, "/api/v1/orders/"+id+"/reverse", "", true)
	}
	read()
}

// ask keeps an answer, and returns the number of the order in it, if there is one.
func (a *asker) ask(u sampleUser, method, path, body string, written bool) (order string) {
	if a.err != nil {
		return ""
	}
	request, err := http.NewRequestWithContext(a.ctx, method, a.base+path, strings.NewReader(body))
	if err != nil {
		a.err = err
		return ""
	}
	request.Header.Set("Authorization", "Bearer "+u.token)
	reply, err := a.client.Do(request)
	if err != nil {
		a.err = err
		return ""
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, mostAnswer))
	if err != nil {
		a.err = err
		return ""
	}
	var made struct {
		Data struct {
			ID json.Number `json:"id"`
		} `json:"data"`
	}
	_ = json.Unmarshal(text, &made) // what is no order has no number
	if written && made.Data.ID != "" {
		// The number is the database's, and in the path of what follows.
		path = strings.ReplaceAll(path, "/"+made.Data.ID.String()+"/", "/{id}/")
	}
	a.answers = append(a.answers, ladder.Answer{
		Request: method + " " + path, Status: reply.StatusCode, Body: text, Written: written,
	})
	return made.Data.ID.String()
}
