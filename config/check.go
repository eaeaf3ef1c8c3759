package config

import (
	"slices"
	"strings"
	"time"
)

// check holds the settings against their bounds and against each other.
func (l *loader) check(cfg *Config) {
	all := checker{l, ""}
	all.listen(&cfg.Listen)
	all.upstream(&cfg.Upstream)
	all.ledger(&cfg.Ledger)
	all.addresses(cfg)
	all.control(cfg)
	all.positive("keepalive.interval", cfg.Keepalive.Interval)
	all.positive("keepalive.timeout", cfg.Keepalive.Timeout)
	all.positive("shutdown_grace", cfg.ShutdownGrace)
	all.dedup(&cfg.Dedup, &cfg.Receipts)
	for i := range cfg.Accounts {
		a := &cfg.Accounts[i]
		checker{l, accountPath(i) + "."}.dedup(&a.Dedup, &a.Receipts)
	}
	l.checkUseful(cfg)
}

// checkUseful warns where nothing at all would be deduplicated though it looks as if.
func (l *loader) checkUseful(cfg *Config) {
	useless := func(d Dedup) bool { return d.Mode != ModeOff && !d.Content && len(d.RequestIDTLVs) == 0 }
	if useless(cfg.Dedup) && !slices.ContainsFunc(cfg.Accounts, func(a Account) bool { return !useless(a.Dedup) }) {
		l.warn("dedup.content", l.origins["dedup.content"],
			"is false and dedup.request_id_tlvs is empty, so no resubmission is ever recognised: set one of them, or dedup.mode: off")
	}
}

// checker holds the settings below a prefix against their rules.
type checker struct {
	l      *loader
	prefix string // empty, or of an account
}

// fault reports a broken rule. The first of the settings that the rule is about is the one it is reported for; its place is
// that of the first that was set anywhere. A rule with a setting that could not be read tells nothing; and what an account took
// over from the settings for all is reported there.
func (k checker) fault(settings []string, text string) {
	origin := ""
	for _, s := range settings {
		path := k.prefix + s
		_, own := k.l.origins[path]
		if k.l.broken[path] || !own && k.l.broken[s] {
			return
		}
		if origin == "" {
			origin = k.l.origins[path]
		}
	}
	if k.prefix != "" && origin == "" {
		return
	}
	k.l.fault(k.prefix+settings[0], origin, "%s", text)
}

// require reports text for the settings that the rule is about unless ok.
func (k checker) require(ok bool, text string, settings ...string) {
	if !ok {
		k.fault(settings, text)
	}
}

// longest keeps sums of durations far from overflow, and a slip of the pen out of the ledger.
const longest = 10 * 365 * 24 * time.Hour

func (k checker) positive(setting string, d time.Duration) {
	k.duration(setting, d, time.Millisecond)
}

// duration requires at least least.
func (k checker) duration(setting string, d, least time.Duration) {
	k.require(d >= least, durationText(d)+" is too short: write at least "+durationText(least), setting)
	k.require(d <= longest, durationText(d)+" is too long: write at most "+durationText(longest), setting)
}

func (k checker) dedup(d *Dedup, r *Receipts) {
	k.positive("dedup.window", d.Window)
	k.positive("dedup.content_window", d.ContentWindow)
	k.positive("dedup.content_limit", d.ContentLimit)
	k.positive("dedup.client_timeout", d.ClientTimeout)
	k.positive("dedup.settle", d.Settle)
	k.positive("dedup.hold_timeout", d.HoldTimeout)
	k.positive("dedup.in_doubt_deadline", d.InDoubtDeadline)
	k.positive("receipts.retention", r.Retention)
	k.duration("receipts.race_wait", r.RaceWait, 0)
	k.count("dedup.max_attempts", d.MaxAttempts, 0, 1_000_000)
	k.duration("dedup.min_interval", d.MinInterval, 0)

	k.require(d.ContentWindow > 2*d.InDoubtDeadline || d.InDoubtDeadline > longest,
		durationText(d.ContentWindow)+" is not more than twice dedup.in_doubt_deadline ("+durationText(d.InDoubtDeadline)+
			"): raise the one or lower the other, or a client that was asked to try again comes too late to be recognised",
		"dedup.content_window", "dedup.in_doubt_deadline")
	k.require(d.ContentLimit >= d.ContentWindow,
		durationText(d.ContentLimit)+" is less than dedup.content_window ("+durationText(d.ContentWindow)+"): raise the one or lower the other",
		"dedup.content_limit", "dedup.content_window")
	k.require(d.MinInterval < d.ContentWindow,
		durationText(d.MinInterval)+" is not less than dedup.content_window ("+durationText(d.ContentWindow)+
			"): lower it, or a client that was asked to try again comes too late to be recognised",
		"dedup.min_interval", "dedup.content_window")
	k.require(d.HoldTimeout < d.ClientTimeout,
		durationText(d.HoldTimeout)+" is not less than dedup.client_timeout ("+durationText(d.ClientTimeout)+
			"): lower it, or the client gives up before it gets an answer",
		"dedup.hold_timeout", "dedup.client_timeout")
	k.require(d.Settle < d.ClientTimeout,
		durationText(d.Settle)+" is not less than dedup.client_timeout ("+durationText(d.ClientTimeout)+"): lower it",
		"dedup.settle", "dedup.client_timeout")
	k.require(r.Retention >= d.Window,
		durationText(r.Retention)+" is less than dedup.window ("+durationText(d.Window)+
			"): raise it, or a message whose answer is repeated loses its receipt",
		"receipts.retention", "dedup.window")
	k.require(r.Retention >= d.ContentLimit,
		durationText(r.Retention)+" is less than dedup.content_limit ("+durationText(d.ContentLimit)+
			"): raise it, or a message whose answer is repeated loses its receipt",
		"receipts.retention", "dedup.content_limit")
	k.require(d.RetryStatus != 0,
		"0x00 means accepted, and would lose messages: write a temporary status, such as 0x14 (ESME_RMSGQFUL)",
		"dedup.retry_status")
	k.requestIDs(d.RequestIDTLVs)
}

// Tags that the SMPP specification gives another meaning, under which equal values are ordinary.
var noReference = map[Tag]string{
	0x0424: "message_payload, the text itself",
	0x020C: "sar_msg_ref_num, which long messages share and reuse",
	0x020E: "sar_total_segments",
	0x020F: "sar_segment_seqnum",
}

const userMessageReference Tag = 0x0204

// SMPP 3.4, 5.3.2: tags for SMSC vendors.
const firstVendorTag, lastVendorTag Tag = 0x1400, 0x3FFF

func (k checker) requestIDs(tags []Tag) {
	const setting = "dedup.request_id_tlvs"
	seen := map[Tag]bool{}
	for _, t := range tags {
		k.require(!seen[t], t.String()+" stands twice: write it once", setting)
		k.require(t != 0, "0x0000 is no tag: write the tag of a TLV, such as 0x1402", setting)
		k.require(noReference[t] == "", t.String()+" is "+noReference[t]+": write the tag under which the client puts its own reference", setting)
		seen[t] = true
	}
	if origin, given := k.l.origins[k.prefix+setting]; given && seen[userMessageReference] {
		k.l.warn(k.prefix+setting, origin, "0x0204 (user_message_reference) has 16 bits, so its values come again after 65,536 messages: "+
			"keep dedup.window shorter than the client needs for those")
	}
	for _, t := range tags {
		if origin, given := k.l.origins[k.prefix+setting]; given && (t < firstVendorTag || t > lastVendorTag) && t != userMessageReference {
			k.l.warn(k.prefix+setting, origin, "%s lies outside the tags that SMPP leaves to providers (0x1400 to 0x3FFF): hexadecimal tags are written with 0x", t)
		}
	}
}

func (k checker) ledger(c *Ledger) {
	const mebibyte ByteSize = 1 << 20
	k.require(strings.TrimSpace(c.Path) != "", "is empty: write the directory for the ledger", "ledger.path")
	k.duration("ledger.lock_wait", c.LockWait, 0)
	k.require(c.MinFree >= 64*mebibyte,
		c.MinFree.String()+" is too little: write at least 64MiB, since a disk that runs full ends the process", "ledger.min_free")
	k.require(c.MaxBytes == 0 || c.MaxBytes >= 128*mebibyte,
		c.MaxBytes.String()+" is too little to work with: write 0 for no limit, or at least 128MiB", "ledger.max_bytes")
}
