// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"time"

	"golang.org/x/sys/unix"
)

// Real file descriptors, such as the eventfd(2) by which package flux brings
// work of goroutines to the reactor. They are polled when nothing else can
// be done, before virtual time moves.

// WorkStarted tells that a goroutine works on something whose end will show on
// a watched descriptor: until WorkDone, virtual time stands still and the
// loop waits for it. Both may be called from any goroutine.
func (in *Instance) WorkStarted() { in.busy.Add(1) }

// WorkDone undoes WorkStarted. Call it after what it announced was written.
func (in *Instance) WorkDone() { in.busy.Add(-1) }

// Busy is the number of WorkStarted without their WorkDone.
func (in *Instance) Busy() int { return int(in.busy.Load()) }

type fdset struct {
	epfd  int
	byFD  map[int32][]*Watcher
	ready []unix.EpollEvent
	// lost are those of code that was killed, which can't close them any more as
	// the end of its process would.
	lost []int
}

func (in *Instance) fdCount() int { return len(in.fds.byFD) }

func (in *Instance) addFD(w *Watcher) {
	s := &in.fds
	if s.byFD == nil {
		fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
		if err != nil {
			panic("embed: epoll_create1: " + err.Error())
		}
		s.epfd, s.byFD, s.ready = fd, map[int32][]*Watcher{}, make([]unix.EpollEvent, 32)
	}
	fd := int32(w.fd)
	s.byFD[fd] = append(s.byFD[fd], w)
	s.update(fd)
}

func (in *Instance) removeFD(w *Watcher) {
	s := &in.fds
	fd := int32(w.fd)
	for i, o := range s.byFD[fd] {
		if o == w {
			s.byFD[fd] = append(s.byFD[fd][:i], s.byFD[fd][i+1:]...)
			break
		}
	}
	s.update(fd)
}

func (s *fdset) update(fd int32) {
	ws := s.byFD[fd]
	if len(ws) == 0 {
		delete(s.byFD, fd)
		// The descriptor may be closed already, which removed it.
		_ = unix.EpollCtl(s.epfd, unix.EPOLL_CTL_DEL, int(fd), nil)
		return
	}
	ev := unix.EpollEvent{Fd: fd}
	for _, w := range ws {
		if w.events&1 != 0 {
			ev.Events |= unix.EPOLLIN
		}
		if w.events&2 != 0 {
			ev.Events |= unix.EPOLLOUT
		}
	}
	if unix.EpollCtl(s.epfd, unix.EPOLL_CTL_MOD, int(fd), &ev) != nil {
		_ = unix.EpollCtl(s.epfd, unix.EPOLL_CTL_ADD, int(fd), &ev)
	}
}

// pollFDs waits up to d for descriptors and queues their watchers' callbacks.
// It gives their number.
func (in *Instance) pollFDs(d time.Duration) int {
	s := &in.fds
	if len(s.byFD) == 0 {
		if d > 0 {
			time.Sleep(d)
		}
		return 0
	}
	ms := int((d + time.Millisecond - 1) / time.Millisecond)
	n, err := unix.EpollWait(s.epfd, s.ready, ms)
	if err != nil {
		return 0
	}
	count := 0
	for _, ev := range s.ready[:n] {
		for _, w := range s.byFD[ev.Fd] {
			revents := 0
			if ev.Events&unix.EPOLLIN != 0 {
				revents |= 1
			}
			if ev.Events&unix.EPOLLOUT != 0 {
				revents |= 2
			}
			if ev.Events&(unix.EPOLLERR|unix.EPOLLHUP) != 0 {
				revents |= 4
			}
			if w.queued {
				continue
			}
			w.queued = true
			count++
			in.postSelf(w.h, func() {
				w.queued = false
				if w.active {
					w.call(revents)
				}
			})
		}
	}
	return count
}

func (in *Instance) closeFDs() {
	if in.fds.byFD != nil {
		unix.Close(in.fds.epfd)
		for _, fd := range in.fds.lost {
			unix.Close(fd)
		}
		in.fds = fdset{}
	}
}
