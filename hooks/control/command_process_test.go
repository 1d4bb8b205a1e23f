// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// execRunner runs real processes.
type execRunner struct{ *reactor }

type execProcess struct{ pgid int }

func (p execProcess) Kill(sig int) {
	if p.pgid > 0 {
		syscall.Kill(-p.pgid, syscall.Signal(sig))
	}
}

func (r execRunner) After(d time.Duration, f func()) func() {
	gone := false // The reactor's thread only.
	t := time.AfterFunc(d, func() {
		r.post(func() {
			if !gone {
				f()
			}
		})
	})
	return func() { gone = true; t.Stop() }
}

func (r execRunner) Run(argv []string, env map[string]string, exited func(int, string, error)) Process {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = os.Environ()
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		r.post(func() { exited(0, "", err) })
		return execProcess{}
	}
	go func() {
		last := lastLine(stderr)
		cmd.Wait()
		r.post(func() { exited(int(cmd.ProcessState.Sys().(syscall.WaitStatus)), last, nil) })
	}()
	return execProcess{cmd.Process.Pid}
}

func lastLine(r io.Reader) string {
	last := ""
	for s := bufio.NewScanner(r); s.Scan(); {
		if line := strings.TrimSpace(s.Text()); line != "" {
			last = line
		}
	}
	return last
}

// script writes a shell script and returns its path.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func newCommandNode(t *testing.T, argv map[Verb][]string) *node {
	n := &node{reactor: newReactor(t), t: t}
	n.c = NewCommand(execRunner{n.reactor}, argv)
	t.Cleanup(func() { n.run(n.c.Close) })
	return n
}

func TestCommandProcess(t *testing.T) {
	dir := t.TempDir()
	path := script(t, `
echo "$BURROW_VERB $BURROW_UNIT $BURROW_RANK $1" >>`+dir+`/log
case $BURROW_VERB in
start) touch `+dir+`/$1 ;;
stop) rm `+dir+`/$1 ;;
status) test -e `+dir+`/$1 || exit 3 ;;
esac`)
	n := newCommandNode(t, map[Verb][]string{
		Start: {path, "{{service}}"}, Stop: {path, "{{service}}"}, Status: {path, "{{service}}"}})
	n.mustBe("a.service", Down)
	n.mustDo(Start, "a.service")
	n.mustBe("a.service", Up)
	n.mustDo(Stop, "a.service")
	n.mustBe("a.service", Down)
	err := n.do(Stop, "a.service")
	t.Logf("%v", err)
	wantError(t, err, "stop a.service:", "exit status 1", "No such file")
	log, _ := os.ReadFile(dir + "/log")
	if want := "status a.service  a\nstart a.service 0 a\n"; !strings.HasPrefix(string(log), want) {
		t.Errorf("it ran:\n%s", log)
	}
}

func TestCommandProcessCannotStart(t *testing.T) {
	n := newCommandNode(t, map[Verb][]string{Start: {"/nonexistent/program"}})
	wantError(t, n.do(Start, "a.service"), "start a.service: /nonexistent/program: could not be started:", "no such file")
}

func TestCommandProcessSignal(t *testing.T) {
	n := newCommandNode(t, map[Verb][]string{Start: {script(t, "echo going >&2; kill -HUP $$")}})
	wantError(t, n.do(Start, "a.service"), "killed by signal 1 (hangup): going")
}

// TestCommandProcessTimeout has a program whose child would outlive it.
func TestCommandProcessTimeout(t *testing.T) {
	pidfile := filepath.Join(t.TempDir(), "pid")
	n := newCommandNode(t, map[Verb][]string{Start: {script(t, `
sleep 1000 &
echo $! >`+pidfile+`
echo waiting >&2
wait`)}})
	begin := time.Now()
	err := await(t, n.order(Start, "a.service", 2*time.Second))
	wantError(t, err, "start a.service:", "timed out after 2s: waiting")
	if d := time.Since(begin); d > 2*time.Second+killGrace {
		t.Errorf("took %s: SIGTERM was not enough", d)
	}
	text, err := os.ReadFile(pidfile)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	n.until("the child is gone", func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return errors.Is(err, os.ErrNotExist) || strings.Contains(string(stat), ") Z ")
	})
}

// TestCommandProcessStubborn has a program that ignores SIGTERM.
func TestCommandProcessStubborn(t *testing.T) {
	if testing.Short() {
		t.Skip("takes over 5 s: not with -short")
	}
	n := newCommandNode(t, map[Verb][]string{Start: {script(t, `trap "" TERM; sleep 1000`)}})
	begin := time.Now()
	err := await(t, n.order(Start, "a.service", 2*time.Second))
	wantError(t, err, "start a.service:", "timed out after 2s")
	if d := time.Since(begin); d < 2*time.Second+killGrace {
		t.Errorf("took %s", d)
	}
}
