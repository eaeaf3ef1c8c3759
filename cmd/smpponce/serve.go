package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"smpponce/config"
	"smpponce/ledger"
	"smpponce/proxy"
)

// serveCmd is `smpponce serve`.
type serveCmd struct {
	settingsFlags
}

// Run serves until SIGTERM or SIGINT.
func (c *serveCmd) Run(env environment, out output) error {
	cfg, warnings, err := c.load(env)
	if err == nil {
		err = checkTLSFiles(&cfg)
	}
	if err != nil {
		printWarnings(out, warnings) // a misspelt variable may be the reason
		return err
	}
	log, err := newLog(cfg.Log, out.stderr)
	if err != nil {
		return err
	}
	for _, w := range warnings {
		log.Warn("settings", zap.Stringer("warning", w))
	}
	limitMemory(log)
	ctx, stop := untilSignal(log)
	defer stop()
	if err := serve(ctx, &cfg, log); err != nil {
		log.Error("stopped", zap.Error(err))
		return errLogged
	}
	log.Info("stopped")
	return nil
}

// untilSignal gives a context that the first SIGTERM or SIGINT ends. The second ends the process at once: what is
// unanswered is found in doubt by the next start. SIGHUP is ignored, since a proxy started from a terminal must outlive it.
func untilSignal(log *zap.Logger) (context.Context, context.CancelFunc) {
	signal.Ignore(syscall.SIGHUP)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		log.Info("shutting down", zap.Stringer("signal", <-signals))
		cancel()
		log.Warn("ending at once", zap.Stringer("signal", <-signals))
		os.Exit(exitFailed)
	}()
	return ctx, cancel
}

// serve runs all parts until ctx ends or one of them fails. They start in this order, and stop in the reverse:
//
//  1. the admin address, so that probes and metrics tell what the rest is waiting for, and the control address;
//  2. the ledger, which may have to wait until another process lets go of it;
//  3. the listener, which no client may reach before the ledger can answer for it.
func serve(ctx context.Context, cfg *config.Config, log *zap.Logger) error {
	ready := &readiness{}
	ready.notReady("waiting for the ledger at " + cfg.Ledger.Path + " (ledger.path)")
	registry := newRegistry()

	listener, err := listen("admin.address", cfg.Admin.Address)
	if err != nil {
		return err
	}
	log.Info("admin address", zap.Stringer("address", listener.Addr()))
	defer serveHTTP("admin.address", listener, newAdmin(registry, ready, log), log)()

	operators := newControl(perAccount(cfg, func(a config.Account) ledger.Policy { return policy(cfg, a) }), log)
	if cfg.Admin.Control != "" {
		listener, err := listenControl(cfg.Admin.Control)
		if err != nil {
			return err
		}
		log.Info("control address", zap.Stringer("address", listener.Addr()))
		defer serveHTTP("admin.control", listener, operators.server(), log)()
	}

	book, err := openLedger(ctx, cfg, log, registry)
	if ctx.Err() != nil && err != nil {
		return nil // told to stop while it waited: nothing was begun
	}
	if err != nil {
		return err
	}

	operators.attach(book)
	err = relay(ctx, cfg, book, ready, log, registry)
	if book != nil {
		if closeErr := book.Close(); closeErr != nil {
			err = errors.Join(err, fmt.Errorf("ledger.path: closing the ledger at %s: %w", cfg.Ledger.Path, closeErr))
		}
	}
	return err
}

// openLedger gives nil where no account needs one.
func openLedger(ctx context.Context, cfg *config.Config, log *zap.Logger, metrics prometheus.Registerer) (*ledger.Ledger, error) {
	if !needsLedger(cfg) {
		log.Warn("dedup.mode is off for all accounts: nothing is deduplicated, and no ledger is kept")
		return nil, nil
	}
	return ledger.Open(ctx, ledgerOptions(cfg, log, metrics)) // its error names the setting
}

// relay runs the proxy until ctx ends, and then drains it within shutdown_grace.
func relay(ctx context.Context, cfg *config.Config, book *ledger.Ledger, ready *readiness, log *zap.Logger, metrics prometheus.Registerer) error {
	options, err := proxyOptions(cfg, book, log, metrics)
	if err != nil {
		return err
	}
	options.MaxSessions = limitSessions(options.MaxSessions, log)
	p, err := proxy.New(options)
	if err != nil {
		return err
	}
	listener, err := listen("listen.address", cfg.Listen.Address)
	if err != nil {
		return err
	}

	// Serve has a context of its own: what ends it is Shutdown, which drains first.
	served := make(chan error, 1)
	go func() { served <- p.Serve(context.WithoutCancel(ctx), listener) }()
	if book != nil {
		ready.watch(book.Writable)
	}
	ready.notReady("")
	log.Info("listening",
		zap.Stringer("address", listener.Addr()),
		zap.Strings("upstream", cfg.Upstream.Addresses),
		zap.String("mode", string(cfg.Dedup.Mode)),
		zap.String("version", version))

	select {
	case err = <-served:
		if err != nil {
			err = fmt.Errorf("listen.address: no longer accepting on %s: %w", cfg.Listen.Address, err)
		}
	case <-ctx.Done():
	}
	ready.notReady("shutting down")
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), cfg.ShutdownGrace)
	defer cancel()
	if shutdownErr := p.Shutdown(grace); shutdownErr != nil {
		log.Warn("shutdown_grace is over: what is unanswered is recorded in doubt", zap.Duration("shutdown_grace", cfg.ShutdownGrace),
			zap.Error(shutdownErr))
	}
	return err
}

// serveHTTP serves the address in a setting until the returned function is called.
func serveHTTP(setting string, listener net.Listener, server *http.Server, log *zap.Logger) (stop func()) {
	done := make(chan struct{})
	go accept(setting, listener, server, log, done)
	return func() {
		// A request in progress may end; it holds nothing else up.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-done
	}
}

func accept(setting string, listener net.Listener, server *http.Server, log *zap.Logger, done chan<- struct{}) {
	defer close(done)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		log.Error(setting+": no longer serving", zap.Error(err))
	}
}
