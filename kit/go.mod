module github.com/redline-go/redline/kit

go 1.25.0

require github.com/puzpuzpuz/xsync/v4 v4.5.0
