package forecast

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// TestExactLikelihood: the recursion agrees with the density of the joint normal distribution, whose covariances follow from
// the process's weights of past errors.
func TestExactLikelihood(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct{ ar, ma []lag }{
		"noise":   {},
		"ar":      {ar: []lag{{1, 0.6}, {2, -0.3}}},
		"ma":      {ma: []lag{{1, -0.8}}},
		"mixed":   {ar: []lag{{1, 0.5}}, ma: []lag{{1, 0.4}, {2, 0.3}}},
		"seasons": {ar: []lag{{1, 0.3}, {4, 0.4}, {5, -0.12}}, ma: []lag{{1, -0.5}, {4, 0.3}, {5, -0.15}}},
	} {
		const n, centre = 30, 7.0
		values := make([]float64, n)
		for i := range values {
			values[i] = centre + 2*rng.NormFloat64()
		}
		if got, want := criterion(values, c.ar, c.ma, centre), joint(values, c.ar, c.ma, centre); math.Abs(got-want) > 1e-8 {
			t.Errorf("%s: %v, the joint density gives %v", name, got, want)
		}
	}
	if got := criterion([]float64{1, 2}, []lag{{1, 1.1}}, nil, 0); !math.IsInf(got, 1) {
		t.Errorf("an explosive process: %v", got)
	}
}

func criterion(values []float64, ar, ma []lag, centre float64) float64 {
	_, out := exact(values, ar, ma, centre, nil)
	return out
}

// joint is exact by the definition: a matrix of all covariances.
func joint(values []float64, ar, ma []lag, centre float64) float64 {
	weights := make([]float64, 2000)
	weights[0] = 1
	for _, l := range ma {
		weights[l.steps] += l.by
	}
	for k := range weights {
		for _, l := range ar {
			if k >= l.steps {
				weights[k] += l.by * weights[k-l.steps]
			}
		}
	}
	n := len(values)
	all := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sum := 0.0
			for k := 0; k+j-i < len(weights); k++ {
				sum += weights[k] * weights[k+j-i]
			}
			all.SetSym(i, j, sum)
		}
	}
	x := mat.NewVecDense(n, nil)
	for i, v := range values {
		x.SetVec(i, v-centre)
	}
	var chol mat.Cholesky
	chol.Factorize(all)
	var solved mat.VecDense
	_ = chol.SolveVecTo(&solved, x)
	return math.Log(mat.Dot(x, &solved)/float64(n)) + chol.LogDet()/float64(n)
}
