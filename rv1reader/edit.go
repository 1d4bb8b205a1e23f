// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"fmt"
	"math"

	"github.com/tidwall/sjson"
)

// The functions here change one key in the bytes of an R and leave every other
// byte as it is. They return new bytes and keep raw as it was.

// SetExpiration returns raw with execution.expiration at t seconds since 1970;
// 0 stands for none. It is how an extension of a job's time limit gets into R.
func SetExpiration(raw []byte, t float64) ([]byte, error) {
	if math.IsNaN(t) || math.IsInf(t, 0) || t < 0 {
		return nil, fmt.Errorf("expiration %v is not a time", t)
	}
	if err := editable(raw, "execution", "expiration"); err != nil {
		return nil, err
	}
	return sjson.SetRawBytes(raw, "execution.expiration", appendSeconds(nil, t))
}

// SetScheduling returns raw with the scheduling key replaced by the JSON value
// key, or added.
func SetScheduling(raw, key []byte) ([]byte, error) {
	if err := editable(raw, "scheduling"); err != nil {
		return nil, err
	}
	if err := validate(key); err != nil {
		return nil, fmt.Errorf("scheduling key: %w", err)
	}
	return sjson.SetRawBytes(raw, "scheduling", key)
}

// DeleteScheduling returns raw without the scheduling key.
func DeleteScheduling(raw []byte) ([]byte, error) {
	if err := editable(raw, "scheduling"); err != nil {
		return nil, err
	}
	return sjson.DeleteBytes(raw, "scheduling")
}

// editable checks what sjson takes for granted: on bytes that are not a JSON
// object it would make up one, and of a key that is there more than once it
// changes the first where readers take the last.
func editable(raw []byte, path ...string) error {
	if err := validate(raw); err != nil {
		return fmt.Errorf("R: %w", err)
	}
	n := root(raw)
	for _, name := range path {
		if n.kind() != '{' {
			return fmt.Errorf("R: at byte %d: an object with the key %s belongs here", n.start, name)
		}
		var found node
		times := 0
		n.object(func(key, value node) {
			if key.is(name) {
				found = value
				times++
			}
		})
		switch {
		case times > 1:
			return fmt.Errorf("R: at byte %d: the key %s is there more than once", found.start, name)
		case times == 0:
			return nil
		}
		n = found
	}
	return nil
}
