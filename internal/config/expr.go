package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/expr-lang/expr"
	exprast "github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/goccy/go-yaml/ast"

	"curfew/fleet"
)

// exprInstance is an instance as an expression sees it. It holds no time: a
// match has no clock.
type exprInstance struct {
	ID       string            `expr:"id"`
	Name     string            `expr:"name"`
	Account  string            `expr:"account"`
	Provider string            `expr:"provider"`
	Owner    string            `expr:"owner"`
	Labels   map[string]string `expr:"labels"`
	Region   string            `expr:"region"`
	State    string            `expr:"state"`
	Charge   string            `expr:"charge"`
	GPU      exprGPU           `expr:"gpu"`
}

type exprGPU struct {
	Model    string `expr:"model"`
	Count    int    `expr:"count"`
	MemoryGB int    `expr:"memory_gb"`
}

func exprOf(i fleet.Instance) exprInstance {
	charge := string(i.Charge.Type)
	if charge == "" {
		charge = "unknown"
	}
	return exprInstance{
		ID: i.Ref.ID, Name: i.Name, Account: i.AccountName, Provider: i.Provider, Owner: i.Owner,
		Labels: i.Labels, Region: i.Region, State: i.State.String(), Charge: charge,
		GPU: exprGPU{Model: i.GPU.Model, Count: i.GPU.Count, MemoryGB: i.GPU.MemoryGB},
	}
}

// expression compiles an expression over an instance that answers true or false.
func (n node) expression(source string) condition {
	if source == "" {
		return condition{}
	}
	program, err := expr.Compile(source, expr.Env(exprInstance{}), expr.AsBool(), expr.WarnOnAny(), expr.DisableBuiltin("now"))
	if err != nil {
		at, what := n.pos, err.Error()
		if e, ok := errors.AsType[*file.Error](err); ok {
			at, what = n.inside(e.Line, e.Column), strings.ReplaceAll(e.Message, "type config.exprGPU", "gpu")
		}
		n.r.report(at, n.path, "is not an expression ("+what+")", `write one that is true or false, such as name startsWith "exp-" and gpu.count >= 4`)
		return condition{}
	}
	var used names
	tree := program.Node()
	exprast.Walk(&tree, &used)
	return condition{reads: used, holds: func(i fleet.Instance) (bool, error) {
		out, err := expr.Run(program, exprOf(i))
		if err != nil {
			return false, fmt.Errorf("expr: %w", err)
		}
		ok, isBool := out.(bool)
		if !isBool {
			return false, fmt.Errorf("expr gave %v, not true or false", out)
		}
		return ok, nil
	}}
}

// names collects the properties that an expression reads.
type names []string

// Visit collects identifiers.
func (ns *names) Visit(n *exprast.Node) {
	switch id := (*n).(type) {
	case *exprast.IdentifierNode:
		// $env is the whole instance: whatever could not be read counts.
		if id.Value == "$env" {
			*ns = append(*ns, "name", "owner", "labels", "region", "state", "charge", "gpu")
		}
		*ns = append(*ns, id.Value)
	}
}

// inside is the place in the file of a place in a scalar's text: line from 1,
// column from 0.
func (n node) inside(line, col int) Pos {
	switch v := n.ast.(type) {
	case *ast.LiteralNode:
		// The parser tells the block's first line but not its indentation.
		return Pos{Line: n.pos.Line + line, Col: 1}
	case *ast.StringNode:
		if line > 1 || strings.Contains(v.GetToken().Origin, "\n") && line != 1 {
			return n.pos
		}
		if t := v.GetToken(); t.Type.String() == "SingleQuote" || t.Type.String() == "DoubleQuote" {
			col++
		}
		return Pos{Line: n.pos.Line, Col: n.pos.Col + col}
	}
	return n.pos
}
