package main

import (
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"smpponce/config"
	"smpponce/ledger"
	"smpponce/proxy"
)

// unusual gives settings of which none stands at its default or at a zero value, acme's own among them.
func unusual(t *testing.T) *config.Config {
	t.Helper()
	cfg, _, err := config.Load(config.Sources{File: []byte(`
listen:
  address: "127.0.0.1:1"
  bind_timeout: 2s
  max_sessions: 3
  max_pending: 4
  max_pdu_size: 5KiB
  write_timeout: 6s
  proxy_protocol_from: [10.0.0.0/8]
  tls: {cert_file: c, key_file: k, client_ca_file: a}
upstream:
  name: seven
  addresses: ["a:8", "b:9"]
  dial_timeout: 10s
  response_timeout: 11s
  tls: {enabled: true, ca_file: ua, cert_file: uc, key_file: uk, server_name: un}
keepalive: {interval: 12s, timeout: 13s}
ledger: {path: l, sync: all, lock_wait: 14s, min_free: 65MiB, max_bytes: 129MiB, on_failure: bypass}
accounts:
  - system_id: acme
    dedup:
      mode: observe
      request_id_tlvs: [0x1402]
      content: true
      window: 15m
      content_window: 16m
      content_limit: 17m
      client_timeout: 18s
      settle: 19ms
      on_mismatch: refuse
      on_in_doubt: refuse
      hold_timeout: 20ms
      in_doubt_deadline: 21s
      retry_status: 0x22
      max_attempts: 24
      min_interval: 25s
    receipts: {retention: 100h, race_wait: 23s, adopt: reference}
`)})
	if err != nil {
		t.Fatal(err)
	}
	return &cfg
}

func TestEverySettingReachesTheLedger(t *testing.T) {
	o := ledgerOptions(unusual(t), zap.NewNop(), prometheus.NewRegistry())
	allSet(t, o)
	want := ledger.Options{Path: "l", Upstream: "seven", Sync: ledger.SyncAll, LockWait: 14 * time.Second, MinFree: 65 << 20, MaxBytes: 129 << 20,
		Bypass: true, ResponseTimeout: 11 * time.Second, Retention: 100 * time.Hour}
	policyOf, tagsOf := o.PolicyOf, o.RequestTags
	o.PolicyOf, o.RequestTags, o.Log, o.Metrics = nil, nil, nil, nil
	if diff := cmp.Diff(want, o); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}

	acme := policyOf("acme")
	allSet(t, acme)
	wantPolicy := ledger.Policy{Mode: ledger.Observe, Content: true, Window: 15 * time.Minute, ContentWindow: 16 * time.Minute,
		ContentLimit: 17 * time.Minute, ClientTimeout: 18 * time.Second, Settle: 19 * time.Millisecond, OnMismatch: ledger.MismatchRefuse,
		OnInDoubt: ledger.RefuseInDoubt, HoldTimeout: 20 * time.Millisecond, InDoubtDeadline: 21 * time.Second,
		ResponseTimeout: 11 * time.Second, RetryStatus: 0x22,
		MaxAttempts: 24, MinInterval: 25 * time.Second, Adopt: ledger.AdoptReference}
	if diff := cmp.Diff(wantPolicy, acme); diff != "" {
		t.Errorf("policy of acme (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]uint16{0x1402}, tagsOf("acme")); diff != "" {
		t.Errorf("request tags of acme (-want +got):\n%s", diff)
	}
	if other := policyOf("other"); other.Mode != ledger.Enforce || other.Window != 24*time.Hour || other.OnInDoubt != ledger.Hold {
		t.Errorf("policy of another account: got %+v, want the defaults", other)
	}
}

func TestEverySettingReachesTheProxy(t *testing.T) {
	o, err := proxyOptions(unusual(t), new(ledger.Ledger), zap.NewNop(), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	allSet(t, o, "Dial")
	want := proxy.Options{BindTimeout: 2 * time.Second, MaxSessions: 3, MaxPending: 4, MaxPDUSize: 5 << 10, WriteTimeout: 6 * time.Second,
		ProxyProtocolFrom: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")},
		ListenTLS:         &proxy.ServerTLS{CertFile: "c", KeyFile: "k", ClientCAFile: "a"},
		Upstream:          []string{"a:8", "b:9"}, DialTimeout: 10 * time.Second, ResponseTimeout: 11 * time.Second,
		UpstreamTLS:       &proxy.ClientTLS{CAFile: "ua", CertFile: "uc", KeyFile: "uk", ServerName: "un"},
		KeepaliveInterval: 12 * time.Second, KeepaliveTimeout: 13 * time.Second}
	accountOf := o.AccountOf
	o.AccountOf, o.Ledger, o.Log, o.Metrics = nil, nil, nil, nil
	if diff := cmp.Diff(want, o, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}

	acme := accountOf("acme")
	allSet(t, acme)
	wantAccount := proxy.Account{Mode: proxy.Observe, RequestTags: []uint16{0x1402}, Settle: 19 * time.Millisecond, RaceWait: 23 * time.Second, RetryStatus: 0x22}
	if diff := cmp.Diff(wantAccount, acme); diff != "" {
		t.Errorf("acme (-want +got):\n%s", diff)
	}
}

// allSet finds an option that was added below and that no setting reaches yet.
func allSet(t *testing.T, options any, but ...string) {
	t.Helper()
	v := reflect.ValueOf(options)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && !slices.Contains(but, name) {
			t.Errorf("%T.%s is not set from any setting", options, name)
		}
	}
}
