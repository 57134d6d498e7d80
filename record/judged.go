package record

// Judged returns the span that figures and findings speak of: the run's steady span,
// or all that was recorded when the run ended before it had one.
func (r *Record) Judged() Span {
	if s := r.Run.Steady; s.Len() > 0 {
		return s
	}
	from, to := r.Windows()
	width := r.Run.Window
	return Span{From: WindowSpan(from, width).From, To: WindowSpan(to, width).From}
}
