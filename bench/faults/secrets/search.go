package secrets

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/redline-go/redline/record"
)

// finding is a plant that was found.
type finding struct{ carrier, where string }

// search looks for the plants in all files below dir, also in data packed in
// them, and in the output.
func search(dir string, printed map[string]string, all plants) ([]finding, int, error) {
	var found []finding
	seen := map[string]bool{}
	look := func(where string, data []byte) {
		for carrier, secret := range all {
			if seen[carrier] {
				continue
			}
			for _, form := range traces(secret) {
				if at := bytes.Index(data, []byte(form)); at >= 0 {
					seen[carrier] = true
					context := bytes.ToValidUTF8(data[max(0, at-40):min(len(data), at+len(form)+10)], []byte("?"))
					found = append(found, finding{carrier, fmt.Sprintf("%s: %q", where, context)})
					break
				}
			}
		}
	}
	for where, text := range printed {
		look(where, []byte(text))
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		name, _ := filepath.Rel(dir, path)
		look(name, []byte(path))
		for _, part := range unpacked(path, data) {
			look(name, part)
		}
		return nil
	})
	return found, files, err
}

var packedPage = regexp.MustCompile(`data-encoding="gzip\+base64">([A-Za-z0-9+/=]+)<`)

// unpacked returns a file's bytes, and those of the data packed in it: gzip, the
// data of a page, the labels of the windows, whose file is compressed by column.
func unpacked(path string, data []byte) [][]byte {
	parts := [][]byte{data}
	if plain, err := gunzip(data); err == nil {
		parts = append(parts, plain)
	}
	for _, m := range packedPage.FindAllSubmatch(data, -1) {
		if zip, err := base64.StdEncoding.DecodeString(string(m[1])); err == nil {
			if plain, err := gunzip(zip); err == nil {
				parts = append(parts, plain)
			}
		}
	}
	if filepath.Base(path) == "windows.parquet" {
		if rec, err := record.Open(filepath.Dir(path)); err == nil {
			var labels strings.Builder
			for _, s := range rec.Names() {
				fmt.Fprintln(&labels, s.Name, s.Labels)
			}
			parts = append(parts, []byte(labels.String()))
		}
	}
	return parts
}

func gunzip(data []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
