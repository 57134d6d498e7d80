package postgres

// PID is the postmaster's process, 0 for a given DSN.
func (s *Server) PID() int {
	if s.cluster == nil {
		return 0
	}
	return s.cluster.server.PID()
}

// Done is closed when the server has ended, wanted or not; for a given DSN it
// never is.
func (s *Server) Done() <-chan struct{} {
	if s.cluster == nil {
		return nil
	}
	return s.cluster.server.Done()
}
