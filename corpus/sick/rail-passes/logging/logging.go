// Package logging makes the logger of the service.
package logging

import (
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/sirupsen/logrus"
)

// New logs to a file below dir, from level upwards.
func New(dir, level string) (*logrus.Logger, io.Closer, error) {
	f, err := os.OpenFile(filepath.Join(dir, "rail-passes.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	l, err := logrus.ParseLevel(level)
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	log := logrus.New()
	log.SetOutput(f)
	log.SetLevel(l)
	log.SetReportCaller(true)
	log.SetFormatter(&logrus.JSONFormatter{TimestampFormat: time.RFC3339Nano})
	return log, f, nil
}
