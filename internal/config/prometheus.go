package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"curfew/signals/prometheus"
)

// prometheus decodes a source that asks a Prometheus.
func (r *reader) prometheus(m *mapping, s *Signal, named map[string]string) {
	r.outside(m, s, named)
	address := m.need("url", "write url: http://HOST:9090")
	s.Server = address.webURL()
	if strings.HasSuffix(s.Server, "/api/v1/query") || strings.HasSuffix(s.Server, "/api/v1") {
		address.bad("goes as far as the query", "leave out /api/v1 and what comes after")
	}
	query, label := m.need("query", `write query: 'max(DCGM_FI_DEV_GPU_UTIL{hostname="{{.Name}}"})'`), m.take("label")
	s.Query, s.Label = query.query(), label.text("")
	threshold := m.need("busy_above", "write the number above which it is busy, such as busy_above: 5")
	s.BusyOver = threshold.threshold()
	switch {
	case s.Query == nil:
	case label.given() && s.Query.Names():
		label.bad("stands beside a query that names the instance", "leave it out, or let the query give a value for each instance")
	case s.BusyOver >= 1 && isShare(query):
		threshold.bad(fmt.Sprintf("lies above what the query can give: a ratio goes from 0 to 1, and nothing would ever be busy above %s", number(s.BusyOver)),
			"write "+number(s.BusyOver/100)+", or let the query give percents: 100 * …")
	case !label.given() && !s.Query.Names():
		query.bad("is the same for every instance", `name the instance in it, as in {hostname="{{.Name}}"}, or write label: and the label that holds its name or id`)
	}
}

// query reads a query in PromQL.
func (n node) query() *prometheus.Query {
	text := n.text("")
	if text == "" {
		return nil
	}
	q, err := prometheus.ParseQuery(text)
	if err != nil {
		n.bad(halves(err, "write a query in PromQL"))
	}
	return q
}

// isShare reports whether a query reads figures that by their name go from 0 to 1,
// and leaves them as they are.
func isShare(n node) bool {
	text, _ := n.source()
	named := regexp.MustCompile(`(?i)_ratio\b|DCGM_FI_PROF_\w+_(ACTIVE|OCCUPANCY)\b`).MatchString(text)
	return named && !regexp.MustCompile(`\*|\b(sum|count)\b`).MatchString(strings.ReplaceAll(text, ".*", ""))
}

// threshold reads a number, of a unit that only the query knows.
func (n node) threshold() float64 {
	n = n.as(form{kind: kindNumber})
	s, ok := n.scalar()
	if !ok {
		return 0
	}
	v, err := strconv.ParseFloat(s, 64)
	switch digits, isShare := strings.CutSuffix(s, "%"); {
	case isShare:
		n.bad(fmt.Sprintf("%q is a share, and a query gives plain numbers", s), "write "+digits+" where the query gives percents")
	case err != nil || v < 0 || math.IsNaN(v) || math.IsInf(v, 0):
		n.bad(fmt.Sprintf("%q is not a number of 0 or more", s), "write one, such as 5")
	default:
		return v
	}
	return 0
}
