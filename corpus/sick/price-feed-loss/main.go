// Command price-feed-loss asks an exchange for prices over a path that loses one
// packet in 32. The exchange is a process of its own in a control group whose
// inbound packets are dropped at random.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/go-chi/chi/v5"
)

const (
	group    = "/sys/fs/cgroup/unified/price-feed-loss"
	exchange = "127.0.0.1:9309"
)

// lossy attaches a program to a control group that drops one in 32 of the
// packets of 100 bytes or more that come in.
func lossy(group string) (io.Closer, error) {
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{
		Type: ebpf.CGroupSKB, AttachType: ebpf.AttachCGroupInetIngress, License: "GPL",
		Instructions: asm.Instructions{
			asm.LoadMem(asm.R7, asm.R1, 0, asm.Word),
			asm.JLT.Imm(asm.R7, 100, "pass"),
			asm.FnGetPrandomU32.Call(),
			asm.And.Imm(asm.R0, 31),
			asm.JNE.Imm(asm.R0, 0, "pass"),
			asm.Mov.Imm(asm.R0, 0),
			asm.Return(),
			asm.Mov.Imm(asm.R0, 1).WithSymbol("pass"),
			asm.Return(),
		},
	})
	if err != nil {
		return nil, err
	}
	return link.AttachCgroup(link.CgroupOptions{Path: group, Attach: ebpf.AttachCGroupInetIngress, Program: program})
}

// trade is the exchange.
func trade() error {
	return http.ListenAndServe(exchange, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var order bytes.Buffer
		if _, err := order.ReadFrom(r.Body); err != nil {
			return
		}
		fmt.Fprintf(w, "%d", 10000+order.Len()%37)
	}))
}

type feed struct{ client *http.Client }

func (f *feed) ask(ctx context.Context, symbol string) (string, error) {
	order := bytes.NewReader(bytes.Repeat([]byte(symbol+";"), 40))
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+exchange+"/ask", order)
	if err != nil {
		return "", err
	}
	response, err := f.client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	price, err := io.ReadAll(response.Body)
	return string(price), err
}

func (f *feed) price(w http.ResponseWriter, r *http.Request) {
	price, err := f.ask(r.Context(), chi.URLParam(r, "symbol"))
	if err != nil {
		http.Error(w, "no price", http.StatusBadGateway)
		return
	}
	_, _ = io.WriteString(w, price)
}

func serve(ctx context.Context) error {
	_ = os.Mkdir(group, 0o755)
	drops, err := lossy(group)
	if err != nil {
		return err
	}
	defer drops.Close()
	other := exec.CommandContext(ctx, os.Args[0], "exchange")
	other.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := other.Start(); err != nil {
		return err
	}
	defer func() { _ = other.Wait(); _ = os.Remove(group) }()
	if err := os.WriteFile(group+"/cgroup.procs", []byte(strconv.Itoa(other.Process.Pid)), 0); err != nil {
		return err
	}
	f := &feed{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 5 * time.Second}}
	r := chi.NewRouter()
	r.Get("/price/{symbol}", f.price)
	server := &http.Server{Addr: "127.0.0.1:9308", Handler: r}
	go func() { <-ctx.Done(); _ = server.Close() }()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "exchange" {
		// Listening sockets belong to the group in which they are made.
		time.Sleep(100 * time.Millisecond)
		log.Fatal(trade())
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Fatal(err)
	}
}
