// SPDX-License-Identifier: LGPL-3.0-or-later

package lublin

import (
	"math"
	"math/rand/v2"
)

// gamma draws from the gamma distribution with shape a and scale b, by
// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
func gamma(rng *rand.Rand, a, b float64) float64 {
	if a < 1 {
		return gamma(rng, a+1, b) * math.Pow(rng.Float64(), 1/a)
	}
	d := a - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v = v * v * v
		if u := rng.Float64(); u > 0 && math.Log(u) < x*x/2+d-d*v+d*math.Log(v) {
			return b * d * v
		}
	}
}

// below draws until the value is at most limit.
func below(limit float64, draw func() float64) float64 {
	for {
		if v := draw(); v <= limit {
			return v
		}
	}
}

// gammaCDF is the chance of a value of at most x: the regularised lower
// incomplete gamma function, as the series
// x^a e^-x / gamma(a+1) * (1 + x/(a+1) + x^2/((a+1)(a+2)) + ...).
func gammaCDF(x, a, b float64) float64 {
	x /= b
	if x <= 0 {
		return 0
	}
	term, sum := 1.0, 1.0
	for n := 1.0; term > sum*1e-15; n++ {
		term *= x / (a + n)
		sum += term
	}
	log, _ := math.Lgamma(a + 1)
	return math.Min(1, sum*math.Exp(a*math.Log(x)-x-log))
}
