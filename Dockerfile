# syntax=docker/dockerfile:1
# The command, and Go beside it, since --build compiles the service under test:
#
#	docker build -t redline .
#	docker run --rm -v "$PWD:/src" -w /src redline run --build ./cmd/svc http://127.0.0.1:8080/
#
# Sources that read the kernel need more of the host: --privileged --pid=host -v /sys/kernel/tracing:/sys/kernel/tracing
FROM golang:1.26-bookworm AS build
WORKDIR /src
# Dependencies apart from sources: they change less often.
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN GOWORK=off CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -buildid=" -o /redline ./cmd/redline

FROM golang:1.26-bookworm
COPY --from=build /redline /usr/local/bin/redline
# Modules and compiled packages of services stay when a volume is mounted here.
VOLUME /go
ENTRYPOINT ["redline"]
CMD ["--help"]
