// Package config reads what the environment says.
package config

import (
	"os"
	"path/filepath"
)

// Config is what the reader runs with.
type Config struct {
	Listen    string
	DataDir   string
	Secret    []byte
	SeedUsers int
	SeedFeeds int
	Eager     bool
}

// Load reads the environment over the defaults.
func Load() (*Config, error) {
	dir, err := os.MkdirTemp("", "feed-shelf-")
	if err != nil {
		return nil, err
	}
	return &Config{
		Listen:    env("LISTEN", "127.0.0.1:9960"),
		DataDir:   dir,
		Secret:    []byte(env("TOKEN_SECRET", "feed-shelf-development")),
		SeedUsers: 40,
		SeedFeeds: 24,
		Eager:     os.Getenv("FIXED") == "1",
	}, nil
}

// DatabaseFile is where the entries are.
func (c *Config) DatabaseFile() string { return filepath.Join(c.DataDir, "shelf.db") }

func env(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}
