// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

import (
	"errors"
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
	if err := editable(raw); err != nil {
		return nil, err
	}
	return sjson.SetRawBytes(raw, "execution.expiration", appendSeconds(nil, t))
}

// SetScheduling returns raw with the scheduling key replaced by the JSON value
// key, or added.
func SetScheduling(raw, key []byte) ([]byte, error) {
	if err := editable(raw); err != nil {
		return nil, err
	}
	if err := validate(key); err != nil {
		return nil, fmt.Errorf("scheduling key: %w", err)
	}
	return sjson.SetRawBytes(raw, "scheduling", key)
}

// DeleteScheduling returns raw without the scheduling key.
func DeleteScheduling(raw []byte) ([]byte, error) {
	if err := editable(raw); err != nil {
		return nil, err
	}
	return sjson.DeleteBytes(raw, "scheduling")
}

// editable checks what sjson takes for granted: on bytes that are not a JSON
// object it would make up one.
func editable(raw []byte) error {
	if err := validate(raw); err != nil {
		return fmt.Errorf("R: %w", err)
	}
	if kind(raw) != '{' {
		return errors.New("R is not a JSON object")
	}
	return nil
}
