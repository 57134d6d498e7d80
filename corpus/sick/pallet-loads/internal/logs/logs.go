// Package logs makes the logger of a service.
package logs

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

type options struct {
	level zapcore.Level
	stack zapcore.Level
}

// Option changes a logger.
type Option func(*options)

// Quiet leaves out what only helps while developing.
func Quiet() Option {
	return func(o *options) { o.level, o.stack = zapcore.InfoLevel, zapcore.ErrorLevel }
}

// New returns a logger that writes JSON to standard error.
func New(opts ...Option) (*zap.Logger, error) {
	o := options{level: zapcore.DebugLevel, stack: zapcore.DebugLevel}
	for _, f := range opts {
		f(&o)
	}
	c := zap.NewProductionConfig()
	c.Level = zap.NewAtomicLevelAt(o.level)
	c.Sampling = nil
	c.EncoderConfig.EncodeTime = zapcore.ISO8601TimeEncoder
	c.EncoderConfig.EncodeCaller = zapcore.ShortCallerEncoder
	return c.Build(zap.AddCaller(), zap.AddStacktrace(o.stack))
}
