// SPDX-License-Identifier: LGPL-3.0-or-later

// Package jobspec reads what a scheduler needs of a jobspec (RFC 14, RFC 25):
// the shape of the resources that a job asks for, its duration, its queue and
// its constraints.
//
// A jobspec is untrusted input. Whatever it holds, [Parse] gives a [Request]
// or an error that says which vertex is wrong and how; it does not panic, and
// it does not take longer than the input is long.
package jobspec
