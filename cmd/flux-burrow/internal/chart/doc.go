// SPDX-License-Identifier: LGPL-3.0-or-later

// Package chart shows against time what a job's eventlog tells of its windows,
// of the holds on its prolog and epilog and of its tasks: as text, and as SVG.
//
//	model.go   the rows and their spans, from the events
//	scale.go   where a time is on the chart
//	text.go    the chart for a terminal
//	svg.go     the chart for a document
package chart
