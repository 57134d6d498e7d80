// Package server answers the calls of the freight service.
package server

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"connectrpc.com/connect"

	freightv1 "github.com/redline-go/redline/corpus/sick/freight-quotes/gen/freight/v1"
	"github.com/redline-go/redline/corpus/sick/freight-quotes/gen/freight/v1/freightv1connect"
	"github.com/redline-go/redline/corpus/sick/freight-quotes/internal/network"
)

// Server implements freight.v1.FreightService.
type Server struct {
	graph  *network.Graph
	finder network.Finder
	cents  map[freightv1.Mode]float64
}

var _ freightv1connect.FreightServiceHandler = (*Server)(nil)

// New makes a server over graph that asks finder for ways.
func New(graph *network.Graph, finder network.Finder) *Server {
	return &Server{graph: graph, finder: finder, cents: map[freightv1.Mode]float64{
		freightv1.Mode_MODE_RAIL: 3.1,
		freightv1.Mode_MODE_ROAD: 7.4,
	}}
}

func (s *Server) Quote(_ context.Context,
	req *connect.Request[freightv1.QuoteRequest]) (*connect.Response[freightv1.QuoteResponse], error) {
	m := req.Msg
	a, ok := s.graph.Index(m.GetOrigin())
	if !ok {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("no terminal %q", m.GetOrigin()))
	}
	b, ok := s.graph.Index(m.GetDestination())
	if !ok {
		return nil, connect.NewError(connect.CodeNotFound, fmt.Errorf("no terminal %q", m.GetDestination()))
	}
	rate, ok := s.cents[m.GetMode()]
	if !ok || m.GetTonnes() <= 0 {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("a mode and a weight above 0 are required"))
	}
	way, km, err := s.finder.Way(a, b)
	if errors.Is(err, network.ErrNoWay) {
		return nil, connect.NewError(connect.CodeFailedPrecondition, err)
	}
	if err != nil {
		return nil, err
	}
	out := &freightv1.QuoteResponse{
		Kilometres: math.Round(km*10) / 10,
		PriceCents: int64(math.Ceil(km * rate * m.GetTonnes())),
		Currency:   "EUR",
		Reference:  m.GetReference(),
	}
	for i := 1; i < len(way); i++ {
		out.Legs = append(out.Legs, &freightv1.Leg{From: s.place(way[i-1]), To: s.place(way[i])})
	}
	return connect.NewResponse(out), nil
}

func (s *Server) ListPlaces(_ context.Context,
	req *connect.Request[freightv1.ListPlacesRequest]) (*connect.Response[freightv1.ListPlacesResponse], error) {
	out := &freightv1.ListPlacesResponse{}
	for i, p := range s.graph.Places() {
		if strings.HasPrefix(p.Code, req.Msg.GetPrefix()) {
			out.Places = append(out.Places, s.place(i))
		}
	}
	return connect.NewResponse(out), nil
}

func (s *Server) place(i int) *freightv1.Place {
	p := s.graph.Places()[i]
	return &freightv1.Place{Code: p.Code, Name: p.Name}
}
