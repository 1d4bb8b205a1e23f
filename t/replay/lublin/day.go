// SPDX-License-Identifier: LGPL-3.0-or-later

package lublin

// day is how busy each half hour is, 1 on average. A gap of the model is used
// up faster in busy hours: it is a length of weighted time, which is the sum of
// these over the time of the clock. The workload begins at midnight.
type day struct {
	weight [halfHours]float64
	until  [halfHours + 1]float64 // weighted time from midnight
}

func newDay() *day {
	d := &day{}
	sum := 0.0
	for i := dayStart; i < dayStart+halfHours; i++ {
		w := gammaCDF(float64(i)+0.5, dayA, dayB) - gammaCDF(float64(i)-0.5, dayA, dayB)
		d.weight[(i-1)%halfHours] = w
		sum += w
	}
	for i := range d.weight {
		d.weight[i] *= halfHours / sum
		d.until[i+1] = d.until[i] + d.weight[i]*halfHour
	}
	return d
}

const oneDay = halfHours * halfHour

// clock returns the time at which so much weighted time is over.
func (d *day) clock(weighted float64) float64 {
	days := float64(int(weighted / oneDay))
	rest := weighted - days*oneDay
	i := 0
	for i < halfHours-1 && d.until[i+1] <= rest {
		i++
	}
	return days*oneDay + float64(i)*halfHour + (rest-d.until[i])/d.weight[i]
}

// weighted is the other way round.
func (d *day) weighted(clock float64) float64 {
	days := float64(int(clock / oneDay))
	rest := clock - days*oneDay
	i := min(halfHours-1, int(rest/halfHour))
	return days*oneDay + d.until[i] + (rest-float64(i)*halfHour)*d.weight[i]
}
