// SPDX-License-Identifier: LGPL-3.0-or-later

package flux

import (
	"encoding/binary"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Poster brings functions from any goroutine to the reactor's thread, by an
// eventfd(2) that the reactor watches. It costs nothing while nothing is
// posted.
type Poster struct {
	mu     sync.Mutex
	queue  []func()
	fd     int
	closed bool
	watch  *FDWatcher
}

// NewPoster makes a Poster. Its owner destroys it on the reactor's thread.
func (h *Handle) NewPoster() (*Poster, error) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		return nil, &Error{Num: Errno(err, syscall.EINVAL), Text: "eventfd: " + err.Error()}
	}
	p := &Poster{fd: fd}
	if p.watch, err = h.WatchRead(fd, true, p.run); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return p, nil
}

// Post has fn run on the reactor's thread, in the order of the calls. It
// never blocks. After Destroy it does nothing.
func (p *Poster) Post(fn func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.queue = append(p.queue, fn)
	if len(p.queue) == 1 {
		one := binary.NativeEndian.AppendUint64(nil, 1)
		// A full counter can't be: it is drained before a second write.
		_, _ = unix.Write(p.fd, one)
	}
}

func (p *Poster) run() {
	var count [8]byte
	_, _ = unix.Read(p.fd, count[:])
	p.mu.Lock()
	queue := p.queue
	p.queue = nil
	p.mu.Unlock()
	for _, fn := range queue {
		p.call(fn)
	}
}

// call runs one function. One that panics keeps no other from its turn, and
// none has one after Destroy.
func (p *Poster) call(fn func()) {
	defer Recover("posted function", nil)
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if !closed {
		fn()
	}
}

// Destroy drops what is still queued.
func (p *Poster) Destroy() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.closed = true
	p.queue = nil
	p.watch.Destroy()
	unix.Close(p.fd)
}
