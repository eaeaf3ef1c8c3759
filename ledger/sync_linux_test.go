package ledger

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"
)

// dirty gives the bytes of the mapped files below path, with this ending, that the kernel has not written out.
func dirty(t *testing.T, path, ending string) (kib int) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	ours := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		word := strings.Fields(lines.Text())
		switch {
		case len(word) > 0 && strings.Contains(word[0], "-"): // an address range begins a mapping
			name := word[len(word)-1]
			ours = strings.HasPrefix(name, path) && strings.HasSuffix(name, ending)
		case ours && len(word) == 3 && (word[0] == "Shared_Dirty:" || word[0] == "Private_Dirty:"):
			var n int
			if _, err := fmt.Sscan(word[1], &n); err != nil {
				t.Fatal(err)
			}
			kib += n
		}
	}
	return kib
}

func TestAFlushReachesTheDisk(t *testing.T) {
	dir := t.TempDir()
	s := openTestStore(t, dir)
	defer s.close()
	b := &batch{journal: journal{Seq: 1, At: sec(1), First: 1, Opened: 1}}
	b.put(recordKey(1), make([]byte, 64<<10), 1000)
	if err := s.commit(b); err != nil {
		t.Fatal(err)
	}
	if dirty(t, dir, ".mem") == 0 {
		t.Skip("the kernel does not tell of dirty pages, or was quicker")
	}
	if err := s.flush(); err != nil {
		t.Fatal(err)
	}
	if kib := dirty(t, dir, ".mem"); kib != 0 {
		t.Errorf("%d KiB of the log are not on the disk", kib)
	}
}
