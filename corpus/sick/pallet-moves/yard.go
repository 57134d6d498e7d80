package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

var errNoBay = errors.New("no bay is free")

type placed struct {
	Pallet string `json:"pallet"`
	Aisle  int    `json:"aisle"`
	Bay    int    `json:"bay"`
	Label  string `json:"label"`
}

// printer makes labels.
type printer struct {
	base   string
	client *http.Client
}

func newPrinter(base string) *printer {
	return &printer{base: base, client: &http.Client{
		Timeout: time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32},
	}}
}

func (p *printer) label(pallet string) (string, error) {
	res, err := p.client.Get(p.base + "/labels/" + pallet)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return fmt.Sprintf("%s-%03d", pallet, len(b)), err
}

// floor is the state of the warehouse. Only the loop of its yard touches it.
type floor struct {
	bays  []string // by aisle, then bay; empty is free
	width int
	next  int
	print *printer
}

// take finds the next bay, going round; the pallet that stood there longest has left it.
func (f *floor) take(pallet string) (placed, error) {
	if len(f.bays) == 0 {
		return placed{}, errNoBay
	}
	at := f.next
	f.next = (f.next + 1) % len(f.bays)
	f.bays[at] = pallet
	return placed{Pallet: pallet, Aisle: at / f.width, Bay: at % f.width}, nil
}

type yard struct {
	commands chan func(*floor)
}

func open(ctx context.Context, aisles, bays int, p *printer) *yard {
	y := &yard{commands: make(chan func(*floor), 64)}
	go y.loop(ctx, &floor{bays: make([]string, aisles*bays), width: bays, print: p})
	return y
}

func (y *yard) loop(ctx context.Context, f *floor) {
	for {
		select {
		case do := <-y.commands:
			do(f)
		case <-ctx.Done():
			return
		}
	}
}

type result[T any] struct {
	value T
	err   error
}

// ask has the loop run a command and waits for what it returns.
func ask[T any](ctx context.Context, y *yard, command func(*floor) (T, error)) (none T, err error) {
	reply := make(chan result[T], 1)
	do := func(f *floor) {
		v, err := command(f)
		reply <- result[T]{v, err}
	}
	select {
	case y.commands <- do:
	case <-ctx.Done():
		return none, ctx.Err()
	}
	select {
	case r := <-reply:
		return r.value, r.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// place gives a pallet a bay and a label.
func (y *yard) place(ctx context.Context, pallet string) (placed, error) {
	return ask(ctx, y, func(f *floor) (placed, error) {
		p, err := f.take(pallet)
		if err != nil {
			return p, err
		}
		p.Label, err = f.print.label(pallet)
		return p, err
	})
}

// placeLabelled has the label printed by the caller.
func (y *yard) placeLabelled(ctx context.Context, pallet string, print *printer) (placed, error) {
	label, err := print.label(pallet)
	if err != nil {
		return placed{}, err
	}
	p, err := ask(ctx, y, func(f *floor) (placed, error) { return f.take(pallet) })
	p.Label = label
	return p, err
}

func (y *yard) free(ctx context.Context) int {
	n, _ := ask(ctx, y, func(f *floor) (n int, err error) {
		for _, b := range f.bays {
			if b == "" {
				n++
			}
		}
		return n, nil
	})
	return n
}
