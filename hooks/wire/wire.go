// SPDX-License-Identifier: LGPL-3.0-or-later

// Package wire has the payloads of burrow's RPCs. They are read strictly: an
// unknown key, a missing one or a wrong type is an error with a text, which
// the service answers as EPROTO.
package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"syscall"

	"flux-burrow/hooks/phase"
	"flux-burrow/rv1reader/idset"
)

// Need is a job's phase on a node. Gen grows with each wish of the hooks; of
// two wishes for a job the one with the higher Gen holds.
type Need struct {
	ID    uint64      `json:"id"`
	Phase phase.Phase `json:"phase"`
	Gen   uint64      `json:"gen"`
}

// SetRequest is the payload of burrow.set: the job's phase on Ranks is Phase.
// Phase idle ends the job's need. ID 0, with phase idle, drops the need of
// each job whose Gen is lower.
type SetRequest struct {
	Ranks *idset.Set `json:"ranks"`
	Need
}

// RankText is a text that is the same for some ranks.
type RankText struct {
	Ranks  *idset.Set `json:"ranks"`
	Reason string     `json:"reason"`
}

// NotLoaded is the reason of a rank that has no agent.
const NotLoaded = "burrow agent is not loaded"

const lost = "lost contact: "

// Lost makes the reason of a rank that can't be reached.
func Lost(why string) string { return lost + why }

// IsLost tells whether a reason was made by Lost.
func IsLost(reason string) bool { return strings.HasPrefix(reason, lost) }

// SetResponse is the answer to burrow.set, given when the change is over.
type SetResponse struct {
	// Failed: where a service is not as the phase asks for, and why.
	Failed []RankText `json:"failed"`
	// Skipped: ranks that lack a unit; the reason names it.
	Skipped []RankText `json:"skipped"`
	// Waiting: where a service is still up because another job needs it.
	Waiting *idset.Set `json:"waiting"`
}

// StatusRequest is the payload of burrow.status.
type StatusRequest struct {
	Ranks *idset.Set `json:"ranks"`
}

// ServiceStatus is a service as it is, and as it is wanted.
type ServiceStatus struct {
	Unit   string `json:"unit"`
	State  string `json:"state"`
	Wanted string `json:"wanted"`
	Error  string `json:"error,omitempty"`
}

// NodeStatus is what is the same on some ranks.
type NodeStatus struct {
	Ranks    *idset.Set      `json:"ranks"`
	Services []ServiceStatus `json:"services"`
	Needs    []Need          `json:"needs"`
}

// StatusResponse is the answer to burrow.status.
type StatusResponse struct {
	Nodes  []NodeStatus `json:"nodes"`
	Failed []RankText   `json:"failed"`
}

// WantedRequest is the payload of job-manager.burrow.wanted.
type WantedRequest struct {
	Rank uint32 `json:"rank"`
}

// WantedResponse has the needs of one rank's jobs. Gen is that of the hooks'
// load: needs with a lower one are void.
type WantedResponse struct {
	Needs []Need `json:"needs"`
	Gen   uint64 `json:"gen"`
}

// ReleaseRequest is the payload of job-manager.burrow.release.
type ReleaseRequest struct {
	Ranks *idset.Set `json:"ranks"`
}

// ReleaseResponse names the jobs whose services were kept up on some of the
// ranks, and the ranks they were released on.
type ReleaseResponse struct {
	Released []JobRanks `json:"released"`
}

// JobRanks is a job and some of its ranks.
type JobRanks struct {
	ID    uint64     `json:"id"`
	Ranks *idset.Set `json:"ranks"`
}

// RunningRequest is the payload of job-manager.burrow.running-R.
type RunningRequest struct {
	IDs []uint64 `json:"ids"`
}

// Error is a payload that can't be taken. It carries EPROTO.
type Error struct{ text string }

func (e *Error) Error() string { return e.text }

// Unwrap gives the errno for the answer.
func (e *Error) Unwrap() error { return syscall.EPROTO }

// Decode reads payload into to, all of whose fields must be there.
func Decode(payload string, to any, required ...string) error {
	if err := decode(payload, to, required); err != nil {
		return &Error{text: "bad payload: " + strings.TrimPrefix(err.Error(), "json: ")}
	}
	return nil
}

func decode(payload string, to any, required []string) error {
	if payload == "" {
		return errors.New("there is none")
	}
	d := json.NewDecoder(strings.NewReader(payload))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("more than one JSON value")
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal([]byte(payload), &keys); err != nil {
		return err
	}
	// The decoder takes a key in any case.
	for key := range keys {
		if !hasKey(to, key) {
			return fmt.Errorf("unknown field %q", key)
		}
	}
	for _, key := range required {
		if v, ok := keys[key]; !ok || bytes.Equal(v, []byte("null")) {
			return fmt.Errorf("%q is missing", key)
		}
	}
	return nil
}

// hasKey tells whether a field of *to is written as key.
func hasKey(to any, key string) bool {
	for _, f := range reflect.VisibleFields(reflect.TypeOf(to).Elem()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == key {
			return true
		}
	}
	return false
}

// DecodeSet reads and checks the payload of burrow.set.
func DecodeSet(payload string) (SetRequest, error) {
	var r SetRequest
	if err := Decode(payload, &r, "ranks", "phase", "id", "gen"); err != nil {
		return r, err
	}
	switch {
	case r.Ranks.Empty():
		return r, &Error{text: `bad payload: "ranks" is empty`}
	case r.ID == 0 && r.Phase != phase.Idle:
		return r, &Error{text: fmt.Sprintf(`bad payload: "id" is 0 with phase %s: it goes with idle only`, r.Phase)}
	}
	return r, nil
}

// Encode writes a payload. The types of this package always can be written.
func Encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// AppendMember adds "id":value to a JSON object that is being written.
func AppendMember(object []byte, id uint64, value string) []byte {
	if object[len(object)-1] != '{' {
		object = append(object, ',')
	}
	object = append(object, '"')
	object = strconv.AppendUint(object, id, 10)
	object = append(object, '"', ':')
	return append(object, value...)
}
