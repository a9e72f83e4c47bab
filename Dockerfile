# syntax=docker/dockerfile:1

# An image of actord with the system of application.conf. For a system of your own, mount its directory over
# /etc/actord (the directory, since a replaced file is not seen through a mount of the file itself), or build on this
# image. State is kept in /var/lib/actord.

FROM golang:1.26-alpine AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# Static, so that the binaries run on any base; git is not there to stamp them.
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -o /out/actord ./cmd/actord && \
    CGO_ENABLED=0 go build -trimpath -buildvcs=false -o /out/fraud ./examples/orders/fraud

FROM alpine:3.22 AS run
# tini reaps what plugins leave behind and hands signals on, so that a stop drains the mailboxes.
RUN apk add --no-cache ca-certificates tini tzdata && \
    addgroup -g 10001 actord && adduser -D -H -u 10001 -G actord actord && \
    install -d -o actord -g actord -m 0700 /var/lib/actord
COPY --from=build /out/actord /usr/local/bin/actord
WORKDIR /etc/actord
COPY --from=build /out/fraud bin/fraud
COPY application.conf ./
USER 10001:10001
ENV XDG_STATE_HOME=/var/lib
VOLUME /var/lib/actord
# A file that would not load is found before the next restart needs it.
HEALTHCHECK --interval=30s --timeout=10s --start-period=10s --retries=3 \
    CMD ["actord", "check", "/etc/actord/application.conf"]
ENTRYPOINT ["/sbin/tini", "--", "actord"]
CMD ["run", "/etc/actord/application.conf"]
