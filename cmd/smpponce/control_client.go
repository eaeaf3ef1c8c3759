package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"

	"smpponce/config"
)

// controlFlags are the flags of the commands that ask the running process.
type controlFlags struct {
	Config  string `help:"YAML file with settings, for admin.control; the environment wins over it." placeholder:"FILE"`
	Control string `help:"Where the running process listens for this (admin.control), in place of the settings." placeholder:"ADDRESS"`
}

// address gives the control address. Of the settings only that one counts: what else is wrong with them is no matter here, and a shell
// in the process's container need not have them all.
func (f *controlFlags) address(env environment) (string, error) {
	if f.Control != "" {
		if fault := config.ControlFault(f.Control); fault != "" {
			return "", usageError{fmt.Errorf("--control: %q %s", f.Control, fault)}
		}
		return f.Control, nil
	}
	settings := settingsFlags{Config: f.Config}
	cfg, _, err := settings.load(env)
	var faults config.Faults
	if errors.As(err, &faults) {
		var concern config.Faults
		for _, fault := range faults {
			if strings.HasPrefix("admin.control", fault.Setting) { // that, its section, or the file as a whole
				concern = append(concern, fault)
			}
		}
		if len(concern) > 0 {
			return "", concern
		}
	} else if err != nil {
		return "", err
	}
	if cfg.Admin.Control == "" {
		return "", usageError{errors.New("admin.control is not set, so a running smpponce cannot be asked: start it with unix:/path there, and tell " +
			"this command the same by --config, " + config.EnvName("admin.control") + " or --control")}
	}
	return cfg.Admin.Control, nil
}

// ask sends a request to the running process and gives the body of its answer. A nil body is a GET.
func (f *controlFlags) ask(env environment, path string, body any) ([]byte, error) {
	address, err := f.address(env)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), explainWithin+answerWithin)
	defer cancel()
	method, payload := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		if payload, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	host := address
	var transport http.Transport // without the proxies of the environment
	if socket, ok := config.UnixPath(address); ok {
		host = "localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, "http://"+host+path, bytes.NewReader(payload))
	if err != nil {
		return nil, err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := (&http.Client{Transport: &transport}).Do(request)
	if err != nil {
		return nil, fmt.Errorf("cannot ask smpponce at %s (%w): is it running, with that as admin.control, and may this user open it?", address, cause(err))
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("the answer of smpponce at %s broke off: %w", address, cause(err))
	}
	var told failure
	mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case mediaType != "application/json":
		return nil, fmt.Errorf("what answers at %s is not smpponce's control address: %s", address, response.Status)
	case response.StatusCode == http.StatusOK:
		return text, nil
	case json.Unmarshal(text, &told) == nil && told.Error != "":
		return nil, errors.New(told.Error)
	}
	return nil, fmt.Errorf("smpponce at %s answered %s", address, response.Status)
}
