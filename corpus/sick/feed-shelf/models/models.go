// Package models holds the tables.
package models

import "time"

type User struct {
	ID   uint   `gorm:"primaryKey" json:"id"`
	Name string `gorm:"size:80;not null" json:"name"`
}

type Feed struct {
	ID       uint   `gorm:"primaryKey" json:"id"`
	UserID   uint   `gorm:"index;not null" json:"-"`
	Title    string `gorm:"size:200" json:"title"`
	SiteURL  string `json:"site_url"`
	Folder   string `gorm:"size:60" json:"folder"`
	Failures int    `json:"-"`
}

type Entry struct {
	ID        uint       `gorm:"primaryKey" json:"id"`
	UserID    uint       `gorm:"index:entry_user_time,priority:1;not null" json:"-"`
	FeedID    uint       `gorm:"index;not null" json:"-"`
	Title     string     `json:"title"`
	Link      string     `json:"link"`
	Published time.Time  `gorm:"index:entry_user_time,priority:2,sort:desc" json:"published"`
	Read      bool       `json:"read"`
	Feed      *Feed      `json:"feed,omitempty"`
	Labels    []Label    `gorm:"many2many:entry_labels" json:"labels"`
	Enclosure *Enclosure `json:"enclosure,omitempty"`
}

type Label struct {
	ID   uint   `gorm:"primaryKey" json:"-"`
	Name string `gorm:"size:40;uniqueIndex" json:"name"`
}

type Enclosure struct {
	ID      uint   `gorm:"primaryKey" json:"-"`
	EntryID uint   `gorm:"uniqueIndex" json:"-"`
	URL     string `json:"url"`
	Mime    string `json:"mime"`
	Bytes   int64  `json:"bytes"`
}
