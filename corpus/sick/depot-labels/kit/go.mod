module depot.example/platform/kit

go 1.24
