package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"smpponce/ledger"
)

// doubtsCmd is `smpponce doubts`.
type doubtsCmd struct {
	controlFlags
	JSON bool `name:"json" help:"Print JSON, with all that is known of each."`
}

// Run prints what is in doubt.
func (c *doubtsCmd) Run(env environment, out output) error {
	text, err := c.ask(env, "/doubts", nil)
	if err != nil {
		return err
	}
	if c.JSON {
		_, err = out.stdout.Write(text)
		return err
	}
	stories, err := readStories(text)
	if err != nil {
		return err
	}
	return writeDoubts(out.stdout, stories)
}

// explainCmd is `smpponce explain`.
type explainCmd struct {
	controlFlags
	ID   string `arg:"" help:"A message id of either side, a request id, or a request key from the log."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run prints the stories of all messages with the id. That there is none is a failure.
func (c *explainCmd) Run(env environment, out output) error {
	if c.ID == "" {
		return usageError{errors.New("ID is empty: give a message id, a request id or a request key")}
	}
	text, err := c.ask(env, "/explain?id="+url.QueryEscape(c.ID), nil)
	if err != nil {
		return err
	}
	stories, err := readStories(text)
	switch {
	case err != nil:
		return err
	case c.JSON:
		_, err = out.stdout.Write(text)
	default:
		err = writeStories(out.stdout, stories)
	}
	if err == nil && len(stories) == 0 {
		err = fmt.Errorf("nothing is known of %s: it did not go this way, or receipts.retention is over", quoted(c.ID))
	}
	return err
}

// settleCmd is `smpponce settle`.
type settleCmd struct {
	controlFlags
	Number    uint64  `arg:"" name:"id" help:"The number that doubts shows."`
	As        string  `required:"" enum:"accepted,rejected,released" help:"accepted: the SMSC has it, a repeat is answered and not sent. rejected: the SMSC has not, a repeat is sent. released: nobody knows, a repeat is sent all the same, and counted as resent in doubt." placeholder:"WORD"`
	MessageID *string `name:"message-id" help:"With --as accepted: the id that the SMSC gave it." placeholder:"ID"`
}

// Run settles one record.
func (c *settleCmd) Run(env environment, out output) error {
	w := word{As: c.As}
	if c.MessageID != nil {
		if w.As != ledger.ResolveAccepted.String() || *c.MessageID == "" {
			return usageError{errors.New("--message-id is for --as accepted, and not empty: leave it out")}
		}
		w.MessageID = *c.MessageID
	}
	if _, err := c.ask(env, "/doubts/"+strconv.FormatUint(c.Number, 10), w); err != nil {
		return fmt.Errorf("%d: %w", c.Number, err)
	}
	_, err := fmt.Fprintf(out.stdout, "%d is settled as %s.\n", c.Number, c.As)
	return err
}

func readStories(text []byte) ([]story, error) {
	var stories []story
	if err := json.Unmarshal(text, &stories); err != nil {
		return nil, fmt.Errorf("the answer is not understood (%w): is another version running?", err)
	}
	return stories, nil
}
