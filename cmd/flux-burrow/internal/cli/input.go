// SPDX-License-Identifier: LGPL-3.0-or-later

package cli

import (
	"fmt"
	"io"
	"os"
)

// maxInput is far above the largest R or eventlog there is.
const maxInput = 1 << 30

// read reads a file, or standard input for "-". name is for messages.
func (a *app) read(path string) (data []byte, name string, err error) {
	in, name := a.in, "standard input"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, path, err
		}
		defer f.Close()
		in, name = f, path
	}
	data, err = io.ReadAll(io.LimitReader(in, maxInput+1))
	if err == nil && len(data) > maxInput {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxInput)
	}
	return data, name, err
}

// instanceR reads the R of the instance out of the KVS.
func (a *app) instanceR(what string) ([]byte, error) {
	c, err := a.open(what)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	r, err := c.Lookup(instanceKey)
	if err != nil {
		return nil, explain(what, err, "")
	}
	return []byte(r), nil
}

// instanceKey is where the resource module puts the instance's R.
const instanceKey = "resource.R"
