// Command gate-board tells passengers their gate. The ground handler's plan is
// fetched a few times a second, and the whole fetch happens between Lock and Unlock
// of the board, so that all who read the board stand still for as long.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
)

type assignment struct {
	Flight   string    `json:"flight"`
	Gate     string    `json:"gate"`
	Boarding time.Time `json:"boarding"`
}

type board struct {
	sync.RWMutex
	byFlight map[string]assignment
	revision int
}

type handler struct {
	plan string
	http http.Client
}

func (h *handler) pull() (json.RawMessage, error) {
	resp, err := h.http.Get(h.plan)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

func (b *board) sync(h *handler) error {
	b.Lock()
	defer b.Unlock()
	doc, err := h.pull()
	if err != nil {
		return fmt.Errorf("ground handler: %w", err)
	}
	if !json.Valid(doc) {
		return fmt.Errorf("ground handler: plan of %d bytes is no JSON", len(doc))
	}
	b.revision++
	for n := range 400 {
		id := fmt.Sprintf("LX%03d", n)
		b.byFlight[id] = assignment{
			Flight:   id,
			Gate:     fmt.Sprintf("%c%d", 'A'+n%5, 1+(n+b.revision)%40),
			Boarding: time.Now().Add(time.Duration(n) * time.Minute),
		}
	}
	return nil
}

func (b *board) find(flight string) (assignment, bool) {
	b.RLock()
	defer b.RUnlock()
	a, ok := b.byFlight[flight]
	return a, ok
}

func (b *board) follow(h *handler, every time.Duration) {
	for range time.Tick(every) {
		if err := b.sync(h); err != nil {
			log.Print(err)
		}
	}
}

func main() {
	b := &board{byFlight: make(map[string]assignment)}
	h := &handler{plan: os.Getenv("BACKEND_URL") + "/plan", http: http.Client{Timeout: time.Second}}
	if err := b.sync(h); err != nil {
		log.Fatal(err)
	}
	go b.follow(h, 150*time.Millisecond)

	app := fiber.New(fiber.Config{DisableStartupMessage: true})
	app.Get("/ping", func(c *fiber.Ctx) error { return c.SendString("pong") })
	app.Get("/flights/:flight/gate", func(c *fiber.Ctx) error {
		a, ok := b.find(c.Params("flight"))
		if !ok {
			return fiber.NewError(fiber.StatusNotFound, "unknown flight")
		}
		return c.JSON(a)
	})
	log.Fatal(app.Listen("127.0.0.1:9851"))
}
