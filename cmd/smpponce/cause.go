package main

import (
	"errors"
	"syscall"
)

// cause is what the system said, without the path or address that our own message has already.
func cause(err error) error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return err
}
