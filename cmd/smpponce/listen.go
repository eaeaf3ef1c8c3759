package main

import "net"

// listen opens a TCP listener for the address in a setting.
func listen(setting, address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, listenError{setting, address, err}
	}
	return l, nil
}

// listenError says that the address in a setting can't be listened on.
type listenError struct {
	setting, address string
	err              error
}

func (e listenError) Error() string {
	return e.setting + ": cannot listen on " + e.address + " (" + cause(e.err).Error() + "): free it, or set another address"
}

func (e listenError) Unwrap() error { return e.err }
