// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

/*
#include <stdlib.h>
#include "burrow_flux.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"
)

// Levels of syslog(3).
const (
	LogCrit    = 2
	LogErr     = 3
	LogWarning = 4
	LogNotice  = 5
	LogInfo    = 6
	LogDebug   = 7
)

// Log writes one line to the broker's log. Implements flux_log(3).
func (h *Handle) Log(level int, format string, args ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, args...), "\x00", `\0`)
	ctext := C.CString(text)
	defer C.free(unsafe.Pointer(ctext))
	C.burrow_log(h.h, C.int(level), ctext)
}
