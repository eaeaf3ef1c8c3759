package config

import "time"

// Default gives each setting's default. It is valid but for Upstream.Addresses, which is empty.
func Default() Config {
	return Config{
		Listen: Listen{
			Address:           ":2775",
			BindTimeout:       5 * time.Second,
			MaxSessions:       1000,
			MaxPending:        5000,
			MaxPDUSize:        128 << 10,
			WriteTimeout:      30 * time.Second,
			ProxyProtocolFrom: []string{},
		},
		Upstream: Upstream{
			Name:            "default",
			Addresses:       []string{},
			DialTimeout:     5 * time.Second,
			ResponseTimeout: 60 * time.Second,
		},
		Keepalive: Keepalive{
			Interval: 30 * time.Second,
			Timeout:  10 * time.Second,
		},
		Dedup: Dedup{
			Mode:            ModeEnforce,
			RequestIDTLVs:   []Tag{},
			Content:         true,
			Window:          24 * time.Hour,
			ContentWindow:   10 * time.Minute,
			ContentLimit:    time.Hour,
			ClientTimeout:   60 * time.Second,
			Settle:          time.Second,
			OnMismatch:      MismatchForward,
			OnInDoubt:       InDoubtHold,
			HoldTimeout:     3 * time.Second,
			InDoubtDeadline: 60 * time.Second,
			RetryStatus:     0x14,
			MaxAttempts:     0,
			MinInterval:     0,
		},
		Receipts: Receipts{
			Retention: 72 * time.Hour,
			RaceWait:  3 * time.Second,
			Adopt:     AdoptElimination,
		},
		Ledger: Ledger{
			Path:      "./smpponce-ledger",
			Sync:      SyncIntents,
			LockWait:  60 * time.Second,
			MinFree:   256 << 20,
			MaxBytes:  0,
			OnFailure: FailureRefuse,
		},
		Admin:         Admin{Address: ":9550"},
		ShutdownGrace: 25 * time.Second,
		Log:           Log{Level: LevelInfo, Format: FormatJSON},
	}
}
