package ledger

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"
)

// A full disk kills the process: Badger writes through mmap, and the kernel answers a page that finds no room with SIGBUS, at
// each open again. So submissions are refused while min_free is left, and a ballast file is given up before an open that finds
// less than that.
const ballastName = "ballast"

// ballastSize is what the ballast takes: enough for Badger's first memtable and value log.
func ballastSize(minFree int64) int64 { return min(minFree/2, 64<<20) }

// reserveOf is what must be free for anything to be committed. Below min_free submissions are refused and outcomes still written; below the
// reserve nothing is, since Badger might begin another memtable, or write one out.
func reserveOf(minFree int64) int64 { return min(minFree/2, 128<<20) }

// reserved is nil while the volume of path has the reserve.
func reserved(path string, reserve int64) error {
	free, err := freeBytes(path)
	if err != nil {
		return err
	}
	if free < reserve {
		return fmt.Errorf("%s free on the ledger's volume, not even the %s that a commit may need", humanize.IBytes(uint64(free)), humanize.IBytes(uint64(reserve)))
	}
	return nil
}

// freeBytes is what the volume of path still has for us.
func freeBytes(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, err
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// dropBallast gives the ballast up where less than minFree is left; keepBallast makes it again where there is room.
func dropBallast(path string, minFree int64) error {
	free, err := freeBytes(path)
	if err != nil || free >= minFree {
		return err
	}
	if err := os.Remove(filepath.Join(path, ballastName)); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

func keepBallast(path string, minFree int64) error {
	name, size := filepath.Join(path, ballastName), ballastSize(minFree)
	free, err := freeBytes(path)
	if err != nil || free < minFree+size {
		return err
	}
	if info, err := os.Stat(name); err == nil && info.Size() == size {
		return nil
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyN(f, zeros{}, size)
	return err
}

// allocated is what a file really takes: Badger's logs are sparse.
func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * 512
	}
	return info.Size()
}

// zeros are written, not left as a hole: a hole takes no room.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
