package config

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

func (r *reader) ping(n node) {
	m := n.mapping()
	r.cfg.Ping.Listen = m.need("listen", `write listen: "0.0.0.0:8421"`).listenAddress("0.0.0.0:8421")
	m.done()
}

// listenAddress reads where to listen: an address of this machine and a port.
func (n node) listenAddress(like string) string {
	n = n.as(form{kind: kindListen})
	s := n.text("")
	if s == "" {
		return ""
	}
	right := `write "` + like + `", or an address of this machine and a port`
	host, digits, err := net.SplitHostPort(s)
	if err != nil || strings.ContainsAny(host, "/ \t\r\n\x00") {
		n.bad(fmt.Sprintf("%q is not an address and a port", s), right)
		return ""
	}
	if port, err := strconv.ParseUint(digits, 10, 16); err != nil || port == 0 {
		n.bad(fmt.Sprintf("%q is not a port", digits), right)
		return ""
	}
	return s
}
