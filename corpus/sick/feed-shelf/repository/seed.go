package repository

import (
	"fmt"
	"time"

	"gorm.io/gorm"

	"github.com/redline-go/redline/corpus/sick/feed-shelf/models"
)

var folders = []string{"news", "code", "food", "trains"}

// Seed fills an empty store.
func (s *Store) Seed(users, feeds int) error {
	return s.db.Transaction(func(tx *gorm.DB) error {
		labels := make([]models.Label, 12)
		for i := range labels {
			labels[i].Name = fmt.Sprintf("label-%02d", i)
		}
		if err := tx.Create(&labels).Error; err != nil {
			return err
		}
		start := time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)
		for u := 1; u <= users; u++ {
			if err := tx.Create(&models.User{ID: uint(u), Name: fmt.Sprintf("reader %d", u)}).Error; err != nil {
				return err
			}
			list := make([]models.Feed, feeds)
			for i := range list {
				list[i] = models.Feed{UserID: uint(u), Title: fmt.Sprintf("Feed %d of %d", i, u),
					SiteURL: fmt.Sprintf("https://site%d.example/", i), Folder: folders[i%len(folders)]}
			}
			if err := tx.Create(&list).Error; err != nil {
				return err
			}
			entries := make([]models.Entry, 0, 120)
			for i := 0; i < cap(entries); i++ {
				e := models.Entry{UserID: uint(u), FeedID: list[i*7%feeds].ID, Title: fmt.Sprintf("Entry %d", i),
					Link:      fmt.Sprintf("https://site%d.example/%d", i%feeds, i),
					Published: start.Add(time.Duration(i*u) * time.Minute), Read: i%3 == 0,
					Labels: []models.Label{labels[i%12], labels[(i+5)%12]}}
				if i%4 == 0 {
					e.Enclosure = &models.Enclosure{URL: fmt.Sprintf("https://cdn.example/%d/%d.mp3", u, i),
						Mime: "audio/mpeg", Bytes: int64(i) * 4096}
				}
				entries = append(entries, e)
			}
			if err := tx.Create(&entries).Error; err != nil {
				return err
			}
		}
		return nil
	})
}
