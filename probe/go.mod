module github.com/redline-go/redline/probe

go 1.24
