package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.uber.org/zap"
)

// newRegistry makes the registry of all metrics, with those of the process in it.
func newRegistry() *prometheus.Registry {
	registry := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "smpponce_build_info",
		Help:        "Always 1; the labels tell what is running.",
		ConstLabels: prometheus.Labels{"version": version, "revision": revision(), "go": runtime.Version()},
	})
	build.Set(1)
	registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry
}

// newAdmin serves /metrics, /healthz and /readyz, all of them for reading only.
func newAdmin(registry *prometheus.Registry, ready *readiness, log *zap.Logger) *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{
		Registry:            registry,
		MaxRequestsInFlight: 8,
		ErrorLog:            zap.NewStdLog(log),
	}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if why := ready.why(); why != "" {
			answer(w, http.StatusServiceUnavailable, "not ready: "+why)
			return
		}
		answer(w, http.StatusOK, "ready")
	})
	return httpServer(mux, log, 30*time.Second, nil)
}

// httpServer gives a server that no peer can hold up.
func httpServer(handler http.Handler, log *zap.Logger, writeTimeout time.Duration, perConn func(context.Context, net.Conn) context.Context) *http.Server {
	// What a peer does wrong is no fault of ours.
	quiet, err := zap.NewStdLogAt(log, zap.DebugLevel)
	if err != nil {
		quiet = zap.NewStdLog(log)
	}
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          quiet,
		ConnContext:       perConn,
	}
}

func answer(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// The prober may have gone; there is nobody else to tell.
	_, _ = io.WriteString(w, text+"\n")
}
