package machines

import (
	"context"
	"net"

	"curfew/providers"
)

// SetDial replaces how TCP connections are made.
func SetDial(p providers.Provider, dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	if m, ok := p.(*Machines); ok {
		m.dial = dial
	}
}
