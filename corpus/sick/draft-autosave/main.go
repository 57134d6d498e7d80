// Command draft-autosave keeps drafts of letters, a file each. Every keystroke's
// save writes a new file, syncs it, renames it and syncs the folder.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/gin-gonic/gin"
)

type shelf struct{ root string }

func (s shelf) folder(author string) string { return filepath.Join(s.root, author) }

// replace puts text in the place of a draft, so that a crash leaves the old one
// or the new one.
func (s shelf) replace(author, draft string, text []byte) (err error) {
	folder := s.folder(author)
	f, err := os.CreateTemp(folder, "draft-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(text); err != nil {
		return err
	}
	if err = f.Sync(); err != nil {
		return err
	}
	if err = f.Close(); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), filepath.Join(folder, draft)); err != nil {
		return err
	}
	return flush(folder)
}

func flush(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func main() {
	root, err := os.MkdirTemp("", "drafts")
	if err != nil {
		panic(err)
	}
	s := shelf{root}
	for author := range 20 {
		if err := os.Mkdir(s.folder(strconv.Itoa(author)), 0o700); err != nil {
			panic(err)
		}
	}
	gin.SetMode(gin.ReleaseMode)
	g := gin.New()
	g.PUT("/drafts/:author/:draft", func(c *gin.Context) {
		text, err := c.GetRawData()
		if err == nil {
			err = s.replace(filepath.Base(c.Param("author")), filepath.Base(c.Param("draft")), text)
		}
		if err != nil {
			c.String(500, fmt.Sprint(err))
			return
		}
		c.Status(204)
	})
	if err := g.Run("127.0.0.1:9313"); err != nil {
		panic(err)
	}
}
