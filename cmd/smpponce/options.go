package main

import (
	"net/netip"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"smpponce/config"
	"smpponce/ledger"
	"smpponce/proxy"
)

// This file, and no other, knows which setting is which option of the packages below.

func ledgerOptions(c *config.Config, log *zap.Logger, metrics prometheus.Registerer) ledger.Options {
	return ledger.Options{
		Path:            c.Ledger.Path,
		Upstream:        c.Upstream.Name,
		Sync:            map[config.Sync]ledger.SyncMode{config.SyncIntents: ledger.SyncIntents, config.SyncAll: ledger.SyncAll, config.SyncNone: ledger.SyncNone}[c.Ledger.Sync],
		LockWait:        c.Ledger.LockWait,
		MinFree:         int64(c.Ledger.MinFree),
		MaxBytes:        int64(c.Ledger.MaxBytes),
		Bypass:          c.Ledger.OnFailure == config.FailureBypass,
		Retention:       longestRetention(c),
		ResponseTimeout: c.Upstream.ResponseTimeout,
		PolicyOf:        perAccount(c, func(a config.Account) ledger.Policy { return policy(c, a) }),
		RequestTags:     perAccount(c, requestTags),
		Log:             log,
		Metrics:         metrics,
	}
}

func policy(c *config.Config, a config.Account) ledger.Policy {
	d := a.Dedup
	p := ledger.Policy{
		Mode:            ledger.Enforce,
		Content:         d.Content,
		Window:          d.Window,
		ContentWindow:   d.ContentWindow,
		ContentLimit:    d.ContentLimit,
		ClientTimeout:   d.ClientTimeout,
		Settle:          d.Settle,
		OnMismatch:      ledger.MismatchForward,
		OnInDoubt:       map[config.OnInDoubt]ledger.DoubtPolicy{config.InDoubtHold: ledger.Hold, config.InDoubtForward: ledger.ForwardInDoubt, config.InDoubtRefuse: ledger.RefuseInDoubt}[d.OnInDoubt],
		HoldTimeout:     d.HoldTimeout,
		InDoubtDeadline: d.InDoubtDeadline,
		ResponseTimeout: c.Upstream.ResponseTimeout,
		RetryStatus:     uint32(d.RetryStatus),
		MaxAttempts:     d.MaxAttempts,
		MinInterval:     d.MinInterval,
		Adopt:           map[config.Adopt]ledger.Adopt{config.AdoptElimination: ledger.AdoptElimination, config.AdoptReference: ledger.AdoptReference, config.AdoptOff: ledger.AdoptOff}[a.Receipts.Adopt],
	}
	if d.Mode == config.ModeObserve {
		p.Mode = ledger.Observe
	}
	if d.OnMismatch == config.MismatchRefuse {
		p.OnMismatch = ledger.MismatchRefuse
	}
	return p
}

// longestRetention serves all accounts: there is one ledger.
func longestRetention(c *config.Config) time.Duration {
	longest := c.Receipts.Retention
	for _, a := range c.Accounts {
		longest = max(longest, a.Receipts.Retention)
	}
	return longest
}

// proxyOptions leaves Ledger nil where l is.
func proxyOptions(c *config.Config, l *ledger.Ledger, log *zap.Logger, metrics prometheus.Registerer) (proxy.Options, error) {
	o := proxy.Options{
		BindTimeout:       c.Listen.BindTimeout,
		MaxSessions:       c.Listen.MaxSessions,
		MaxPending:        c.Listen.MaxPending,
		MaxPDUSize:        int(c.Listen.MaxPDUSize),
		WriteTimeout:      c.Listen.WriteTimeout,
		Upstream:          c.Upstream.Addresses,
		DialTimeout:       c.Upstream.DialTimeout,
		ResponseTimeout:   c.Upstream.ResponseTimeout,
		KeepaliveInterval: c.Keepalive.Interval,
		KeepaliveTimeout:  c.Keepalive.Timeout,
		AccountOf:         perAccount(c, account),
		Log:               log,
		Metrics:           metrics,
	}
	if l != nil {
		o.Ledger = l
	}
	for _, cidr := range c.Listen.ProxyProtocolFrom {
		prefix, err := netip.ParsePrefix(cidr)
		if err != nil {
			return o, err
		}
		o.ProxyProtocolFrom = append(o.ProxyProtocolFrom, prefix)
	}
	if t := c.Listen.TLS; t.CertFile != "" {
		o.ListenTLS = &proxy.ServerTLS{CertFile: t.CertFile, KeyFile: t.KeyFile, ClientCAFile: t.ClientCAFile}
	}
	if t := c.Upstream.TLS; t.Enabled {
		o.UpstreamTLS = &proxy.ClientTLS{CAFile: t.CAFile, CertFile: t.CertFile, KeyFile: t.KeyFile, ServerName: t.ServerName}
	}
	return o, nil
}

func requestTags(a config.Account) []uint16 {
	tags := make([]uint16, len(a.Dedup.RequestIDTLVs))
	for i, t := range a.Dedup.RequestIDTLVs {
		tags[i] = uint16(t)
	}
	return tags
}

func account(a config.Account) proxy.Account {
	return proxy.Account{
		Mode:        map[config.Mode]proxy.Mode{config.ModeEnforce: proxy.Enforce, config.ModeObserve: proxy.Observe, config.ModeOff: proxy.Off}[a.Dedup.Mode],
		RequestTags: requestTags(a),
		Settle:      a.Dedup.Settle,
		RaceWait:    a.Receipts.RaceWait,
		RetryStatus: uint32(a.Dedup.RetryStatus),
	}
}

// perAccount translates what the settings say for each account once, since it is asked for at every submission.
func perAccount[T any](c *config.Config, translate func(config.Account) T) func(systemID string) T {
	others := translate(config.Account{Dedup: c.Dedup, Receipts: c.Receipts})
	named := make(map[string]T, len(c.Accounts))
	for _, a := range c.Accounts {
		named[a.SystemID] = translate(a)
	}
	return func(systemID string) T {
		if t, ok := named[systemID]; ok {
			return t
		}
		return others
	}
}

// needsLedger tells whether any account is more than relayed.
func needsLedger(c *config.Config) bool {
	if c.Dedup.Mode != config.ModeOff {
		return true
	}
	for _, a := range c.Accounts {
		if a.Dedup.Mode != config.ModeOff {
			return true
		}
	}
	return false
}
