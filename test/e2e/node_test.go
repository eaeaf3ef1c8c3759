package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"smpponce/test/cut"
	"smpponce/test/smsc"
)

func TestANodeClientThatIsCutTenTimesSendsNothingTwice(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	if _, err := os.Stat("node/node_modules/smpp"); err != nil {
		t.Skip("node's packages are not installed: run npm ci in test/e2e/node")
	}
	s := startSMSC(t, faulty(smsc.Padded))
	p := serve(t, s.Addr())
	// Only resets: node-smpp does not notice FIN inside a PDU.
	r := startCuts(t, p.address, cut.Reset)

	const n = 200
	host, port, _ := net.SplitHostPort(r.Addr())
	client := exec.CommandContext(bounded(t), node, "client.js", host, port, strconv.Itoa(n))
	client.Dir = "node"
	var stderr bytes.Buffer
	client.Stderr = &stderr
	stdout, err := client.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	var out string
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if out = lines.Text(); out == "answered" {
			answered(s, r)
		}
	}
	if err := client.Wait(); err != nil {
		t.Fatalf("the client: %v\n%s%d cuts, the SMSC: %+v", err, stderr.String(), r.Cuts(), s.Counts())
	}
	var got struct {
		IDs      map[string]string
		Receipts map[string]int
		Refused  map[string]int
		Sent     int
		Sessions int
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	once(t, s, n, func(text string) string { return got.IDs[text] })
	for text, id := range got.IDs {
		if got.Receipts[id] == 0 {
			t.Errorf("%q has no receipt", text)
		}
	}
	if r.Cuts() < cuts || got.Sent == n || len(got.Refused) > 0 {
		t.Errorf("%d cuts, %d sent, refused %v; want %d cuts, more than %d sent, none refused", r.Cuts(), got.Sent, got.Refused, cuts, n)
	}
	t.Logf("%d sent in %d sessions; decisions: %s", got.Sent, got.Sessions, p.resubmissions())
}
