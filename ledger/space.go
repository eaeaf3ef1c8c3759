package ledger

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// A full disk kills the process: Badger writes through mmap, and the kernel answers a page that finds no room with SIGBUS, at
// each open again. So submissions are refused while min_free is left, and a ballast file is given up before an open that finds
// less than that.
const ballastName = "ballast"

// ballastSize is what the ballast takes: enough for Badger's first memtable and value log.
func ballastSize(minFree int64) int64 { return min(minFree/2, 64<<20) }

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
