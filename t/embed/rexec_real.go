// SPDX-License-Identifier: LGPL-3.0-or-later

package embed

import (
	"bytes"
	"os"
	osexec "os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// RealProcesses is a Backend that runs commands on this machine, each in a
// process group of its own, for demonstrations. The environment is the
// command's, plus RANK.
func RealProcesses(c Command) Process {
	cmd := osexec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir = c.Cwd
	cmd.Env = append(os.Environ(), "RANK="+itoa(c.Rank))
	for k, v := range c.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r := &osProcess{cmd: cmd}
	cmd.Stdout, cmd.Stderr = &r.stdout, &r.stderr
	if err := cmd.Start(); err != nil {
		num := syscall.ENOENT
		var pe syscall.Errno
		if asErrno(err, &pe) {
			num = pe
		}
		return Process{Errno: num, Text: "error launching process: " + strerror(num)}
	}
	return Process{run: r}
}

type osProcess struct {
	cmd            *osexec.Cmd
	stdout, stderr bytes.Buffer
	over           bool
}

func (p *osProcess) pid() int { return p.cmd.Process.Pid }

func (p *osProcess) signal(sig int) {
	if !p.over {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.Signal(sig))
	}
}

// watch waits in a goroutine; an eventfd brings the end to the loop.
func (p *osProcess) watch(in *Instance, done func(stdout, stderr string, status int)) {
	fd, err := unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC)
	if err != nil {
		panic("embed: eventfd: " + err.Error())
	}
	w := &Watcher{h: in.brokers[0].self, fd: fd, events: 1, active: true}
	status, over := 0, make(chan struct{})
	w.fn = func() {
		<-over
		in.removeFD(w)
		w.active = false
		unix.Close(fd)
		p.over = true
		if !in.closed {
			done(p.stdout.String(), p.stderr.String(), status)
		}
	}
	in.addFD(w)
	in.WorkStarted()
	go func() {
		_ = p.cmd.Wait()
		if ws, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
			status = int(ws)
		}
		close(over)
		one := []byte{1, 0, 0, 0, 0, 0, 0, 0}
		_, _ = unix.Write(fd, one)
		in.WorkDone()
	}()
}

func asErrno(err error, num *syscall.Errno) bool {
	for err != nil {
		if n, ok := err.(syscall.Errno); ok {
			*num = n
			return true
		}
		u, ok := err.(interface{ Unwrap() error })
		if !ok {
			return false
		}
		err = u.Unwrap()
	}
	return false
}
