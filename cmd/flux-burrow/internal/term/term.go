// SPDX-License-Identifier: LGPL-3.0-or-later

// Package term tells what an output can show.
package term

import (
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// defaultWidth is for outputs that are no terminal.
const defaultWidth = 80

// Width is the number of columns of w: of the terminal that it is, else what
// COLUMNS says, else 80.
func Width(w io.Writer) int {
	if n, ok := columns(w); ok && n > 0 {
		return n
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return defaultWidth
}

// Color tells whether to use colour on w: it is a terminal that has it, and
// NO_COLOR (no-color.org) is not set.
func Color(w io.Writer) bool {
	_, tty := columns(w)
	return tty && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// ASCII tells whether the environment can't show more than ASCII, by the
// variables that setlocale(3) goes by and Flux's own.
func ASCII() bool {
	if os.Getenv("FLUX_F58_FORCE_ASCII") != "" {
		return true
	}
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToUpper(v)
			return !strings.Contains(v, "UTF-8") && !strings.Contains(v, "UTF8")
		}
	}
	return true
}

func columns(w io.Writer) (n int, tty bool) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, false
	}
	var size struct{ rows, cols, x, y uint16 }
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), syscall.TIOCGWINSZ, uintptr(unsafe.Pointer(&size)))
	return int(size.cols), errno == 0
}
