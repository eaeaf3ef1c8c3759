# One static binary on an empty base: no shell, no package manager, nothing to patch but the binary itself.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download && go mod verify
COPY . .
ARG VERSION=devel
ARG REVISION=
RUN CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=$VERSION -X main.commit=$REVISION" -o /out/smpponce ./cmd/smpponce
# An empty folder, to be copied together with its owner.
RUN mkdir /out/ledger

FROM scratch
# For TLS towards an SMSC whose certificate comes from a public authority.
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/smpponce /usr/local/bin/smpponce
COPY --from=build --chown=65532:65532 /out/ledger /var/lib/smpponce
USER 65532:65532
# The path is for operators: kubectl exec … -- smpponce doubts.
ENV PATH=/usr/local/bin SMPPONCE_LEDGER_PATH=/var/lib/smpponce
# The ledger must outlive the container: mount a volume here that user 65532 may write. Nothing else is written, so the root
# may be read-only.
VOLUME /var/lib/smpponce
# SMPP; metrics and probes.
EXPOSE 2775 9550
ENTRYPOINT ["/usr/local/bin/smpponce"]
CMD ["serve"]
