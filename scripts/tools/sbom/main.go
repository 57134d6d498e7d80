// Command sbom writes what a Go binary is built of, as CycloneDX JSON: sbom BINARY.
// It reads what the linker noted, so it names what is in the binary and not what
// go.mod allows. The time is $SOURCE_DATE_EPOCH's and nothing is drawn at random:
// the same binary gives the same bytes.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go" // the format's own types and encoder
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sbom BINARY > FILE")
		os.Exit(2)
	}
	bom, err := describe(os.Args[1])
	if err == nil {
		err = cdx.NewBOMEncoder(os.Stdout, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func describe(path string) (*cdx.BOM, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(content)
	main := component(cdx.ComponentTypeApplication, &info.Main)
	main.Name = filepath.Base(path)
	main.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}
	main.Properties = properties(info.Settings)

	std := component(cdx.ComponentTypeLibrary, &debug.Module{Path: "std", Version: info.GoVersion})
	parts := []cdx.Component{std}
	refs := []string{std.BOMRef}
	for _, m := range info.Deps { // in the linker's order, by path
		if m.Replace != nil {
			return nil, fmt.Errorf("%s: %s is replaced: a release is built of published versions", path, m.Path)
		}
		c := component(cdx.ComponentTypeLibrary, m)
		parts, refs = append(parts, c), append(refs, c.BOMRef)
	}
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &main}
	if at, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		bom.Metadata.Timestamp = time.Unix(at, 0).UTC().Format(time.RFC3339)
	}
	bom.Components = &parts
	bom.Dependencies = &[]cdx.Dependency{{Ref: main.BOMRef, Dependencies: &refs}}
	return bom, nil
}

// component is a module under its package URL
// (https://github.com/package-url/purl-spec, type golang).
func component(kind cdx.ComponentType, m *debug.Module) cdx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	c := cdx.Component{Type: kind, BOMRef: url, Name: m.Path, Version: m.Version, PackageURL: url}
	if m.Sum != "" {
		// The hash of go.sum, which is of no algorithm that the format knows.
		c.Properties = &[]cdx.Property{{Name: "go:sum", Value: m.Sum}}
	}
	return c
}

// properties are the settings that decide the binary's bytes.
func properties(settings []debug.BuildSetting) *[]cdx.Property {
	var out []cdx.Property
	for _, s := range settings {
		out = append(out, cdx.Property{Name: "go:build:" + s.Key, Value: s.Value})
	}
	return &out
}
