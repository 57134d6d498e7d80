// Command traced is a small order service instrumented with OpenTelemetry as its
// guide has it: otelhttp around the handlers, spans of its own around what a
// handler does, the SDK's batch processor, and an exporter that the environment
// configures. Tests of redline's span receiver use it.
//
// Every twentieth order needs a slow lookup.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	// What is tested against: OpenTelemetry's own instrumentation and exporters.
	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "traced:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("traced", flag.ContinueOnError)
	listen := flags.String("listen", "127.0.0.1:8080", "address to serve at")
	dsn := flags.String("dsn", "", "PostgreSQL")
	protocol := flags.String("protocol", "http", "exporter's protocol: http or grpc")
	if err := flags.Parse(args); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	provider, err := tracing(ctx, *protocol)
	if err != nil {
		return err
	}
	defer provider.Shutdown(context.WithoutCancel(ctx))
	db, err := pgxpool.New(ctx, *dsn)
	if err != nil {
		return err
	}
	defer db.Close()
	s := &service{db: db, tracer: provider.Tracer("traced")}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.Handle("GET /order", otelhttp.NewHandler(http.HandlerFunc(s.order), "GET /order"))
	server := &http.Server{Addr: *listen, Handler: mux}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// tracing sets up the SDK. Where spans go to is in the environment.
func tracing(ctx context.Context, protocol string) (*sdk.TracerProvider, error) {
	var exporter sdk.SpanExporter
	var err error
	switch protocol {
	case "http":
		exporter, err = otlptracehttp.New(ctx, otlptracehttp.WithCompression(otlptracehttp.GzipCompression))
	case "grpc":
		exporter, err = otlptracegrpc.New(ctx)
	default:
		err = fmt.Errorf("protocol %q is neither http nor grpc", protocol)
	}
	if err != nil {
		return nil, err
	}
	named := resource.NewSchemaless(attribute.String("service.name", "orders"))
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(named))
	otel.SetTracerProvider(provider)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	return provider, nil
}

type service struct {
	db     *pgxpool.Pool
	tracer trace.Tracer
}

func (s *service) prepare(ctx context.Context) error {
	_, err := s.db.Exec(ctx, `CREATE TABLE IF NOT EXISTS orders (id int PRIMARY KEY, item text);
		INSERT INTO orders SELECT n, 'item ' || n FROM generate_series(1, 1000) n ON CONFLICT DO NOTHING`)
	return err
}

// The service's statements.
const (
	find    = "SELECT id, item FROM orders WHERE id = $1"
	history = "select pg_sleep($1), 'it''s' AS note -- slow lookup"
)

func (s *service) order(w http.ResponseWriter, r *http.Request) {
	id, _ := strconv.Atoi(r.URL.Query().Get("id"))
	ctx, span := s.tracer.Start(r.Context(), "load order", trace.WithAttributes(
		attribute.String("code.function.name", "main.(*service).order"),
		attribute.String("http.request.header.authorization", "Bearer hunter2")))
	defer span.End()
	err := s.query(ctx, find, func(ctx context.Context) error {
		var found int
		var item string
		return s.db.QueryRow(ctx, find, 1+id%1000).Scan(&found, &item)
	})
	if err == nil && id%20 == 0 {
		err = s.query(ctx, history, func(ctx context.Context) error {
			_, err := s.db.Exec(ctx, history, 0.05)
			return err
		})
	}
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
		http.Error(w, "no order", http.StatusInternalServerError)
		return
	}
	fmt.Fprintln(w, "order", id, time.Now().Year())
}

// query runs f in a span of a statement.
func (s *service) query(ctx context.Context, sql string, f func(context.Context) error) error {
	ctx, span := s.tracer.Start(ctx, "query", trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(attribute.String("db.system.name", "postgresql"), attribute.String("db.query.text", sql)))
	defer span.End()
	err := f(ctx)
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, "query failed")
	}
	return err
}
