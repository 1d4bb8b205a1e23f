// SPDX-License-Identifier: LGPL-3.0-or-later

package control

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inFlux is the initial program of an instance inside the machine: a rabbit
// job whose dws_environment is posted by hand. It says what the unit is at
// each step.
const inFlux = `
dir=/run/burrow-test
state() { echo "$1 $(systemctl is-active sleeper.service)"; }
until_state() { for i in $(seq 100); do test "$(systemctl is-active sleeper.service)" = $1 && return; sleep 0.1; done; }
flux module load $dir/burrow.so && flux jobtap load $dir/burrow.so || exit 1
state idle
id=$(flux submit -n1 --setattr=dw=x systemctl is-active sleeper.service)
flux job wait-event -q -t 20 -m description=burrow-prolog $id prolog-start
until_state active
state mount
flux python -c 'import flux, sys
from flux.job import JobID
flux.Flux().rpc("job-manager.post-event.post", {"id": int(JobID(sys.argv[1])), "name": "dws_environment", "context": {"variables": {}}}).get()' $id
flux job wait-event -q -t 20 $id clean
echo "task $(flux job attach $id 2>/dev/null)"
state over
flux jobtap remove burrow.so; flux module remove burrow
`

// TestFluxOnSystemd runs burrow.so in a real Flux whose node has a real
// systemd.
func TestFluxOnSystemd(t *testing.T) {
	flux, err := exec.LookPath("flux")
	if err != nil {
		if _, err := os.Stat("/opt/flux/bin/flux"); err != nil {
			t.Skip("no flux on PATH nor in /opt/flux/bin")
		}
		flux = "/opt/flux/bin/flux"
	}
	build := os.Getenv("BURROW_BUILD_DIR")
	if build == "" {
		build = "../.."
	}
	object, err := os.ReadFile(filepath.Join(build, "module", "burrow.so"))
	if err != nil {
		t.Skipf("burrow.so is not built: %v", err)
	}
	m := bootMachine(t)
	dir := filepath.Join(m.Root, "run", "burrow-test")
	if err := os.MkdirAll(filepath.Join(dir, "conf"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"burrow.so":        string(object),
		"script":           inFlux,
		"conf/burrow.toml": "[[burrow.services]]\nunit = \"sleeper.service\"\nup = [\"mount\", \"unmount\"]\n",
		"conf/sched.toml":  "[modules]\nalternatives.sched = \"sched-simple\"\nalternatives.feasibility = \"sched-simple\"\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Dir(flux) + ":/usr/bin:/bin"
	// Output to a file: a broker that is left behind would hold a pipe open.
	out, err := m.Command("sh", "-c", "PATH="+path+" timeout -k 5 90 flux start -s1"+
		" -c /run/burrow-test/conf sh /run/burrow-test/script > /run/burrow-test/out 2>&1 < /dev/null").CombinedOutput()
	log, _ := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatalf("%v\n%s%s", err, out, log)
	}
	for _, want := range []string{"idle inactive", "mount active", "task inactive", "over inactive"} {
		if !strings.Contains("\n"+string(log), "\n"+want+"\n") {
			t.Errorf("no line %q in:\n%s", want, log)
		}
	}
}
