package ledger

// maxRecent bounds each half of what an account remembers of its latest answers. More within settle are not asked about.
const maxRecent = 20_000

// Recent knows which sessions were told of which contents lately: should one of them have ended, though that was not seen yet, it
// may not have read that. It forgets between one settle and two.
type recent struct {
	young, old map[Key]*session
	turned     Time // when young was empty
}

// add notes an answer of a good end to s.
func (r *recent) add(k Key, s *session, now Time) {
	if now > r.turned.Add(s.account.policy.Settle) {
		r.young, r.old, r.turned = r.old, r.young, now
		clear(r.young)
	}
	if r.young == nil {
		r.young = map[Key]*session{}
	}
	if len(r.young) < maxRecent {
		r.young[k] = s
	}
}

// of gives the bound session that was told of k last, or nil.
func (r *recent) of(k Key) *session {
	s := r.young[k]
	if s == nil {
		s = r.old[k]
	}
	if s.bound() {
		return s
	}
	return nil
}
