package tune

import (
	"math"

	"gonum.org/v1/gonum/mat" // Cholesky factors
)

// observed is the combined result of all trials of one setting.
type observed struct {
	at     Setting
	mean   float64
	n      int
	within float64 // sum of squares about the mean
}

// process is a Gaussian process over the settings of a space, whose prior mean is the
// present setting's value, 0. Its covariance is the sum of two parts, a sum over knobs,
// with which few trials say much about each knob alone, and a product over them, with
// which knobs may interact; both use Matern 5/2 with a length per knob (Rasmussen and
// Williams, Gaussian Processes for Machine Learning, 2006, section 4.2; Duvenaud et al.,
// Additive Gaussian Processes, NIPS 2011).
type process struct {
	space Space
	theta theta
	data  []observed
	chol  mat.Cholesky
	// correlation of two levels, by knob.
	correlation [][][]float64
	alpha       *mat.VecDense
	// inverse of the covariances of the known settings, row by row; computed on demand.
	inverse []float64
}

// theta are the parameters of the covariance.
type theta struct {
	length []float64 // per knob, in lengths of its scale
	alone  float64   // standard deviation of the part that is a sum over knobs
	joint  float64   // of the product
	noise  float64   // of one trial
}

// The possible values of parameters, with the median and the width of their lognormal
// priors. Values are standard deviations of logarithms of ratios: 0.1 is 10 %.
var (
	lengths = []float64{0.2, 0.35, 0.6, 1, 1.8, 3.2}
	scales  = []float64{0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6}
	noises  = []float64{0.005, 0.01, 0.02, 0.03, 0.045, 0.065, 0.09, 0.13, 0.2}

	lengthPrior = prior{0.8, 0.8}
	scalePrior  = prior{0.08, 1.2}
	noisePrior  = prior{0.05, 1}
)

type prior struct{ middle, width float64 }

func (p prior) log(v float64) float64 {
	z := math.Log(v/p.middle) / p.width
	return -z * z / 2
}

// presentNoise is the standard deviation of the present setting's value. The value
// is exactly 0 by definition; the deviation is above zero so that the matrix can be
// factorised.
const presentNoise = 1e-3

// fit finds the most likely parameters, starting from those of an earlier fit, one
// coordinate at a time: the likelihood is smooth and the grid coarse.
func fit(space Space, data []observed, from *theta) *process {
	at := theta{length: make([]float64, len(space.Knobs)), alone: 0.1, joint: 0.05, noise: 0.045}
	for i := range at.length {
		at.length[i] = 1
	}
	if from != nil {
		at = from.clone()
	}
	best := newProcess(space, data, at)
	score := best.likelihood()
	try := func(change func(*theta)) {
		other := best.theta.clone()
		change(&other)
		p := newProcess(space, data, other)
		if p == nil {
			return
		}
		if l := p.likelihood(); l > score+1e-9 {
			best, score = p, l
		}
	}
	for range 3 {
		before := score
		for _, v := range noises {
			try(func(t *theta) { t.noise = v })
		}
		for _, v := range scales {
			try(func(t *theta) { t.alone = v })
			try(func(t *theta) { t.joint = v })
		}
		for i := range space.Knobs {
			for _, v := range lengths {
				try(func(t *theta) { t.length[i] = v })
			}
		}
		if score-before < 0.05 {
			break
		}
	}
	return best
}

func (t theta) clone() theta {
	t.length = append([]float64(nil), t.length...)
	return t
}

// newProcess conditions a process on data; nil if the matrix cannot be factorised.
func newProcess(space Space, data []observed, t theta) *process {
	p := &process{space: space, theta: t, data: data}
	p.correlation = p.tables()
	n := len(data) + 1
	k := mat.NewSymDense(n, nil)
	y := mat.NewVecDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			v := p.covariance(p.at(i), p.at(j))
			if i == j {
				v += p.variance(i)
			}
			k.SetSym(i, j, v)
		}
		if i > 0 {
			y.SetVec(i, data[i-1].mean)
		}
	}
	if !p.chol.Factorize(k) {
		return nil
	}
	p.alpha = mat.NewVecDense(n, nil)
	if p.chol.SolveVecTo(p.alpha, y) != nil {
		return nil
	}
	return p
}

// at returns the i-th known setting; the present one comes first.
func (p *process) at(i int) Setting {
	if i == 0 {
		return p.space.Present
	}
	return p.data[i-1].at
}

func (p *process) variance(i int) float64 {
	if i == 0 {
		return presentNoise * presentNoise
	}
	return p.theta.noise * p.theta.noise / float64(p.data[i-1].n)
}

// tables returns the correlations of each knob's levels.
func (p *process) tables() (out [][][]float64) {
	for i := range p.space.Knobs {
		k := &p.space.Knobs[i]
		table := make([][]float64, len(k.Levels))
		for a := range table {
			table[a] = make([]float64, len(k.Levels))
			for b := range table[a] {
				r := math.Sqrt(5) * k.distance(a, b) / p.theta.length[i]
				table[a][b] = (1 + r + r*r/3) * math.Exp(-r)
			}
		}
		out = append(out, table)
	}
	return out
}

func (p *process) covariance(a, b Setting) float64 {
	sum, product := 0.0, 1.0
	for i := range a {
		k := p.correlation[i][a[i]][b[i]]
		sum += k
		product *= k
	}
	return p.theta.alone*p.theta.alone*sum + p.theta.joint*p.theta.joint*product
}

// likelihood is the logarithm of the data's marginal likelihood with the priors of the
// parameters, up to a constant. Trials of one setting enter through their mean and their
// deviations from it.
func (p *process) likelihood() float64 {
	l := -p.chol.LogDet() / 2
	for i, d := range p.data {
		l -= d.mean * p.alpha.AtVec(i+1) / 2
		more := float64(d.n - 1)
		l -= more*math.Log(p.theta.noise) + d.within/(2*p.theta.noise*p.theta.noise)
	}
	for _, v := range p.theta.length {
		l += lengthPrior.log(v)
	}
	return l + scalePrior.log(p.theta.alone) + scalePrior.log(p.theta.joint) + noisePrior.log(p.theta.noise)
}

// predict returns the mean and the standard deviation of a setting's value.
func (p *process) predict(x Setting) (mean, sd float64) {
	k := make([]float64, len(p.data)+1)
	p.against(x, 1, k)
	return p.moments(k, p.covariance(x, x))
}

// mean returns only the mean, which is quicker.
func (p *process) mean(x Setting) (mean float64) {
	for i := range len(p.data) + 1 {
		mean += p.covariance(x, p.at(i)) * p.alpha.AtVec(i)
	}
	return mean
}

// combine returns the mean and the standard deviation of a weighted sum of settings'
// values, so that a difference of two is narrower than both.
func (p *process) combine(at []Setting, weights []float64) (mean, sd float64) {
	k, variance := make([]float64, len(p.data)+1), 0.0
	for i, x := range at {
		p.against(x, weights[i], k)
		for j, y := range at {
			variance += weights[i] * weights[j] * p.covariance(x, y)
		}
	}
	return p.moments(k, variance)
}

// against adds the weighted covariances of a setting with the known ones.
func (p *process) against(x Setting, weight float64, to []float64) {
	for i := range to {
		to[i] += weight * p.covariance(x, p.at(i))
	}
}

// moments returns the mean and the standard deviation of a variable with covariances k
// with the known settings and its own variance.
func (p *process) moments(k []float64, variance float64) (mean, sd float64) {
	n := len(k)
	if p.inverse == nil {
		p.inverse = p.invert()
	}
	for i, ki := range k {
		mean += ki * p.alpha.AtVec(i)
		row, sum := p.inverse[i*n:(i+1)*n], 0.0
		for j, kj := range k {
			sum += row[j] * kj
		}
		variance -= ki * sum
	}
	return mean, math.Sqrt(math.Max(0, variance))
}

func (p *process) invert() []float64 {
	var inverse mat.SymDense
	n := len(p.data) + 1
	// The error only warns of a nearly singular matrix; the inverse is computed even
	// so.
	_ = p.chol.InverseTo(&inverse)
	out := make([]float64, n*n)
	for i := range n {
		for j := range n {
			out[i*n+j] = inverse.At(i, j)
		}
	}
	return out
}

// joint returns the means of settings and a lower root of their covariance.
func (p *process) joint(at []Setting) (means []float64, root *mat.TriDense) {
	n := len(p.data) + 1
	if p.inverse == nil {
		p.inverse = p.invert()
	}
	known, by := make([][]float64, len(at)), make([][]float64, len(at))
	for a, x := range at {
		known[a], by[a] = make([]float64, n), make([]float64, n)
		p.against(x, 1, known[a])
		mean := 0.0
		for i, k := range known[a] {
			mean += k * p.alpha.AtVec(i)
			for j, v := range p.inverse[i*n : (i+1)*n] {
				by[a][j] += k * v
			}
		}
		means = append(means, mean)
	}
	c := mat.NewSymDense(len(at), nil)
	for a := range at {
		for b := a; b < len(at); b++ {
			v := p.covariance(at[a], at[b])
			for i, k := range known[b] {
				v -= by[a][i] * k
			}
			if a == b {
				v += 1e-9 // the leader is its own rival, so two rows are equal
			}
			c.SetSym(a, b, v)
		}
	}
	root = mat.NewTriDense(len(at), mat.Lower, nil)
	var chol mat.Cholesky
	if chol.Factorize(c) {
		chol.LTo(root)
	} else {
		// Nearly singular: treat them as independent, which overestimates the regret
		// rather than underestimating it.
		for a := range at {
			root.SetTri(a, a, math.Sqrt(math.Max(0, c.At(a, a))))
		}
	}
	return means, root
}
