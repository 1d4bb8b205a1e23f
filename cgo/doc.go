// SPDX-License-Identifier: LGPL-3.0-or-later

// Package flux binds the part of flux-core's C interface that burrow uses.
//
// One feature a file; each binding names the function that it implements.
// Nothing here knows of burrow's own logic.
//
// # Threads
//
// A [Handle] and all that comes from it belong to the thread of its reactor:
// the job manager's for a jobtap plugin, the module's own for a module. Only
// [Poster.Post] may be called from elsewhere.
//
// # Ownership
//
// What a constructor of this package returns is its caller's to destroy, and
// a second Destroy does nothing. Callbacks are resolved by runtime/cgo
// handles, so that no Go pointer reaches C. A panic in a callback is caught,
// logged and, where the callback has a result, turned into a failure.
//
// # Linking
//
// libflux-core is not linked in: the program that loads the object has the
// symbols, and those of the job manager are weak. A go test binary gets them
// from t/embed.
package flux

/*
#cgo CFLAGS: -std=gnu11 -Wall
#cgo LDFLAGS: -Wl,--unresolved-symbols=ignore-all
*/
import "C"
