package proxy

import (
	"context"
	"crypto/tls"
	"testing"
	"testing/synctest"
	"time"

	"smpponce/test/wire"
)

func TestALegGoesToTheSameCertificateOnly(t *testing.T) {
	a := newAuthority(t, t.TempDir())
	far := time.Unix(3e9, 0)
	a.issue("server", "proxy", far)
	mine, another := a.issue("client", "acme", far), a.issue("another", "acme", far.Add(time.Second))
	for name, c := range map[string]struct {
		certificate tls.Certificate
		adopts      bool
	}{"the same": {mine, true}, "another of one name": {another, false}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(o *Options) {
				unprobed(o)
				o.ListenTLS = &ServerTLS{CertFile: a.file("server.pem"), KeyFile: a.file("server.key"), ClientCAFile: a.file("ca.pem")}
			}, func(r *rig) {
				dial := func(certificate tls.Certificate) *secured {
					return r.dialTLS(&tls.Config{RootCAs: a.pool(), ServerName: "proxy", Certificates: []tls.Certificate{certificate}})
				}
				esme := dial(mine)
				esme.send(bindBody(1))
				smsc := r.accept()
				smsc.send(wire.New(wire.BindTransceiver|wire.Response, 0, smsc.want(wire.BindTransceiver).Sequence(), []byte("smsc\x00")))
				esme.want(wire.BindTransceiver | wire.Response)
				esme.send(submitFrame(1, "unanswered"))
				smsc.want(wire.SubmitSM)
				_ = esme.Close()
				synctest.Wait()

				next := dial(c.certificate)
				next.send(bindBody(2))
				if c.adopts {
					next.want(wire.BindTransceiver | wire.Response)
				} else {
					r.accept().want(wire.BindTransceiver)
				}
				_ = next.Close()
			})
		})
	}
}

// Wherever the shutdown meets the client that is back: before, while or after it gets its leg.
func TestAShutdownInTheMidstOfAnAdoptionEndsInItsTime(t *testing.T) {
	for range 100 {
		inBubble(t, unprobed, func(r *rig) {
			smsc, pending := left(r)
			esme := r.dial()
			esme.send(bindBody(2))
			ctx, cancel := context.WithTimeout(context.Background(), 25*time.Second)
			defer cancel()
			over := make(chan error, 1)
			go func() { over <- r.proxy.Shutdown(ctx) }()
			go func() { // it reads whatever it is told, and leaves at the end
				for {
					f, err := esme.in.Next()
					if err != nil {
						_ = esme.Close()
						return
					}
					if f.Command() == wire.Unbind {
						_, _ = esme.Write(wire.New(wire.Unbind|wire.Response, 0, f.Sequence(), nil))
					}
				}
			}()
			time.Sleep(time.Second)
			smsc.send(answer(pending.Sequence(), "id"))
			smsc.send(wire.New(wire.Unbind|wire.Response, 0, smsc.want(wire.Unbind).Sequence(), nil))
			smsc.wantEnd()
			_ = smsc.Close()
			if err := <-over; err != nil {
				t.Errorf("Shutdown gave %v", err)
			}
			if n := view(r.ledger, func() int { return len(r.ledger.settled) }); n != 1 {
				t.Errorf("%d answers reached the ledger, want 1", n)
			}
		})
	}
}
