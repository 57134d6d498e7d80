package main

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Config says how large a radar is and how often it looks.
type Config struct {
	Posts, Boards int
	Refresh       time.Duration
}

// Trend is a post with its heat.
type Trend struct {
	Post  int     `json:"post"`
	Votes uint32  `json:"votes"`
	Heat  float64 `json:"heat"`
}

type board struct {
	posts []int
	top   atomic.Pointer[[]Trend]
}

// Radar ranks the posts of boards. Readers see the latest ranking without a lock.
type Radar struct {
	votes  []atomic.Uint32 // by post
	age    []float64       // hours, by post
	boards []*board
	done   chan struct{}
	wg     sync.WaitGroup
}

// NewRadar ranks once and then keeps ranking in the background.
func NewRadar(c Config) *Radar {
	r := &Radar{votes: make([]atomic.Uint32, c.Posts), age: make([]float64, c.Posts), done: make(chan struct{})}
	for range c.Boards {
		r.boards = append(r.boards, &board{})
	}
	for i := range c.Posts {
		r.votes[i].Store(uint32(i * 7919 % 5000))
		r.age[i] = float64(i%2000) / 10
		b := r.boards[i%c.Boards]
		b.posts = append(b.posts, i)
	}
	for _, b := range r.boards {
		r.rank(b)
		r.wg.Go(func() { r.watch(b, c.Refresh) })
	}
	return r
}

func (r *Radar) watch(b *board, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			r.rank(b)
		case <-r.done:
			return
		}
	}
}

// rank orders the posts of a board by heat.
func (r *Radar) rank(b *board) {
	list := make([]Trend, 0, len(b.posts))
	for _, p := range b.posts {
		v := r.votes[p].Load()
		list = append(list, Trend{p, v, float64(v) / math.Pow(r.age[p]+2, 1.8)})
	}
	slices.SortFunc(list, func(x, y Trend) int { return cmp.Compare(y.Heat, x.Heat) })
	b.top.Store(&list)
}

// Top returns the n hottest posts of a board, nil if there is no such board.
func (r *Radar) Top(board, n int) []Trend {
	if board >= len(r.boards) {
		return nil
	}
	list := *r.boards[board].top.Load()
	return list[:min(n, len(list))]
}

// Vote counts a vote for a post, and reports whether there is such a post.
func (r *Radar) Vote(post int) bool {
	if post < 0 || post >= len(r.votes) {
		return false
	}
	r.votes[post].Add(1)
	return true
}

// Close ends the ranking.
func (r *Radar) Close() {
	close(r.done)
	r.wg.Wait()
}
