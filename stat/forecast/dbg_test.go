package forecast
import "testing"
func TestDbg(t *testing.T) {
	p := publishedErrors(t)["nile"]
	v := publicSeries(t, "nile")
	for _, end := range p.Origins {
		s := Series{v[:end], nil}
		for _, f := range forms(s) {
			e, c := fitForm(s, f)
			t.Log(end, f, c, e.alpha, e.beta, e.level, MASE(s, v[end:end+p.Horizon], e.mean(p.Horizon)))
		}
	}
}
