//go:build unix

package boxrun

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Room is how many bytes can still be written below a folder, which need not be there
// yet.
func Room(folder string) (uint64, error) {
	var s unix.Statfs_t
	for {
		err := unix.Statfs(folder, &s)
		if up := filepath.Dir(folder); errors.Is(err, fs.ErrNotExist) && up != folder {
			folder = up
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("ask for the space left in %s: %w", folder, err)
		}
		return s.Bavail * uint64(s.Bsize), nil //nolint:gosec // the size of a block is not negative
	}
}
