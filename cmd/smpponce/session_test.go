package main

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// SMPP 3.4, 5.1.2.1 and 5.1.3.
const (
	bindTransceiver     = 0x09
	bindTransceiverResp = 0x80000009
	submitSM            = 0x04
	statusSystemError   = 0x08
)

// frame builds a PDU.
func frame(command, status, sequence uint32, body string) []byte {
	f := make([]byte, 16, 16+len(body))
	binary.BigEndian.PutUint32(f[0:], uint32(16+len(body)))
	binary.BigEndian.PutUint32(f[4:], command)
	binary.BigEndian.PutUint32(f[8:], status)
	binary.BigEndian.PutUint32(f[12:], sequence)
	return append(f, body...)
}

// next reads a PDU.
func next(c net.Conn) (command, status, sequence uint32, err error) {
	head := make([]byte, 16)
	if _, err = io.ReadFull(c, head); err != nil {
		return
	}
	_, err = io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint32(head))-16)
	return binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:]), binary.BigEndian.Uint32(head[12:]), err
}

const (
	bindBody   = "acme\x00secret\x00\x00\x34\x00\x00\x00"
	submitBody = "\x00\x01\x01491700000001\x00\x01\x01491700000002\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x05hello"
)

// bound connects and binds.
func bound(t *testing.T, address string) (c net.Conn, status uint32) {
	t.Helper()
	c, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	if _, err := c.Write(frame(bindTransceiver, 0, 7, bindBody)); err != nil {
		t.Fatal(err)
	}
	command, status, sequence, err := next(c)
	if err != nil || command != bindTransceiverResp || sequence != 7 {
		t.Fatalf("answer to the bind: command %#x, sequence %d, error %v; want %#x, 7, none", command, sequence, err, uint32(bindTransceiverResp))
	}
	return c, status
}

// muteSMSC accepts one bind and answers nothing after it; submitted is told of each submit_sm.
func muteSMSC(t *testing.T) (address string, submitted <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	told := make(chan struct{}, 10)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		for {
			command, _, sequence, err := next(c)
			switch {
			case err != nil:
				return
			case command == bindTransceiver:
				_, _ = c.Write(frame(bindTransceiverResp, 0, sequence, "smsc\x00"))
			case command == submitSM:
				told <- struct{}{}
			}
		}
	}()
	return l.Addr().String(), told
}

func TestABindWithoutAnSMSCIsRefusedAndServeStaysUp(t *testing.T) {
	p := start(t)
	for range 2 {
		c, status := bound(t, p.ready(t))
		if status != statusSystemError {
			t.Errorf("status of the answer to the bind: got %#x, want %#x (ESME_RSYSERR)", status, uint32(statusSystemError))
		}
		if _, _, _, err := next(c); !errors.Is(err, io.EOF) {
			t.Errorf("after the refusal: got %v, want the end of the connection", err)
		}
	}
	if status, body := p.get(t, "/readyz"); status != 200 {
		t.Errorf("/readyz: got %d %q, want 200: a missing SMSC is no reason to keep clients away", status, body)
	}
}

// pending gives a proxy with one submission that its SMSC never answers.
func pending(t *testing.T, env ...string) *process {
	t.Helper()
	smsc, submitted := muteSMSC(t)
	p := start(t, append(env, "SMPPONCE_UPSTREAM_ADDRESSES="+smsc)...)
	c, status := bound(t, p.ready(t))
	if status != 0 {
		t.Fatalf("status of the answer to the bind: got %#x, want 0", status)
	}
	if _, err := c.Write(frame(submitSM, 0, 8, submitBody)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-submitted:
	case <-time.After(patience):
		t.Fatal("the submit_sm did not reach the SMSC")
	}
	return p
}

func TestSIGTERMWaitsNoLongerThanShutdownGrace(t *testing.T) {
	p := pending(t, "SMPPONCE_SHUTDOWN_GRACE=300ms")
	p.signal(t, syscall.SIGTERM)
	code, log := p.exit(t)
	if code != 0 || !strings.Contains(log, "shutdown_grace") {
		t.Errorf("exit code %d, want 0 and a line about shutdown_grace; log:\n%s", code, log)
	}
}

func TestWhileItDrainsServeIsNotReadyAndASecondSignalEndsItAtOnce(t *testing.T) {
	p := pending(t, "SMPPONCE_SHUTDOWN_GRACE=10m")
	p.signal(t, os.Interrupt)
	p.logged(t, "shutting down")
	for deadline := time.Now().Add(patience); ; {
		status, body := p.get(t, "/readyz")
		if status == 503 && strings.Contains(body, "shutting down") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("/readyz while draining: got %d %q, want 503", status, body)
		}
	}
	p.signal(t, os.Interrupt)
	if code, log := p.exit(t); code != exitFailed {
		t.Errorf("exit code %d, want 1; log:\n%s", code, log)
	}
}
