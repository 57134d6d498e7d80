// Package vault keeps lots of seeds.
package vault

import (
	"context"
	"fmt"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/redline-go/redline/corpus/sick/seed-vault/vaultpb"
)

var species = []string{"hordeum", "triticum", "secale", "avena", "oryza", "zea"}

// Service implements vault.v1.Vault.
type Service struct {
	vaultpb.UnimplementedVaultServer
	byID      map[string]*vaultpb.Lot
	bySpecies map[string][]*vaultpb.Lot
}

// New makes a vault of n lots.
func New(n int) *Service {
	s := &Service{byID: map[string]*vaultpb.Lot{}, bySpecies: map[string][]*vaultpb.Lot{}}
	for i := range n {
		l := &vaultpb.Lot{Id: fmt.Sprintf("SV%05d", i), Species: species[i%len(species)], Year: int32(1970 + i%50),
			Seeds: int64(500 + i*7%4000), Germination: 0.9}
		for y := l.Year + 5; y < 2026; y += 10 {
			l.Germination *= 0.96
			l.Tests = append(l.Tests, &vaultpb.Test{Year: y, Rate: l.Germination})
		}
		s.byID[l.Id] = l
		s.bySpecies[l.Species] = append(s.bySpecies[l.Species], l)
	}
	return s
}

// GetLot finds a lot.
func (s *Service) GetLot(_ context.Context, r *vaultpb.GetLotRequest) (*vaultpb.Lot, error) {
	if l, ok := s.byID[strings.ToUpper(r.GetId())]; ok {
		return l, nil
	}
	return nil, status.Errorf(codes.NotFound, "no lot %q", r.GetId())
}

// ListLots lists the first lots of a species.
func (s *Service) ListLots(_ context.Context, r *vaultpb.ListLotsRequest) (*vaultpb.ListLotsResponse, error) {
	if r.GetLimit() < 1 || r.GetLimit() > 100 {
		return nil, status.Error(codes.InvalidArgument, "limit: 1 to 100")
	}
	list := s.bySpecies[r.GetSpecies()]
	return &vaultpb.ListLotsResponse{Lots: list[:min(len(list), int(r.GetLimit()))]}, nil
}

// Tenants refuses calls of unknown tenants.
func Tenants(known ...string) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		for _, t := range md.Get("tenant") {
			for _, k := range known {
				if t == k {
					return next(ctx, req)
				}
			}
		}
		return nil, status.Error(codes.PermissionDenied, "tenant")
	}
}
