module github.com/redline-go/redline/kit

go 1.26.0
