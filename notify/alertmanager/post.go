package alertmanager

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"curfew/fleet"
	"curfew/notify"
)

// alert is one entry of what /api/v2/alerts takes.
type alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt,omitzero"`
	EndsAt      time.Time         `json:"endsAt"`
}

// composeAlerts makes the alerts of a message. An alert is the sum of its labels, the
// severity is one of them, and what was told before of the same thing may have had
// another: so every message ends its alerts at the severities that they do not fire
// with. An Alertmanager takes the end of what never fired, and tells nobody.
func composeAlerts(m notify.Message, now time.Time) []alert {
	var all []alert
	for _, s := range states(m) {
		words := s.annotations(m)
		for _, level := range []fleet.Severity{fleet.Critical, fleet.Warning, fleet.Info} {
			a := alert{Labels: s.labels(level), Annotations: words, EndsAt: now.UTC()}
			if s.life > 0 && level == severity(s.notice) {
				a.StartsAt, a.EndsAt = startOf(s.notice, now), now.Add(s.life).UTC()
			}
			all = append(all, a)
		}
	}
	return all
}

// payload is version 4 of what an Alertmanager posts to a webhook receiver.
type payload struct {
	Receiver          string            `json:"receiver"`
	Status            string            `json:"status"`
	Alerts            []told            `json:"alerts"`
	GroupLabels       map[string]string `json:"groupLabels"`
	CommonLabels      map[string]string `json:"commonLabels"`
	CommonAnnotations map[string]string `json:"commonAnnotations"`
	ExternalURL       string            `json:"externalURL"`
	Version           string            `json:"version"`
	GroupKey          string            `json:"groupKey"`
	TruncatedAlerts   int               `json:"truncatedAlerts"`
}

type told struct {
	Status       string            `json:"status"`
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"` // the zero time while it fires
	GeneratorURL string            `json:"generatorURL"`
	Fingerprint  string            `json:"fingerprint"`
}

const (
	firing   = "firing"
	resolved = "resolved"
)

// composeWebhook makes the payload of a message. What is over is told once, at the
// severity of its notice; the fingerprint leaves the severity out, and the group is the
// thread, so that they are those of the opening. What may never have fired is left out.
func composeWebhook(receiver string, m notify.Message, now time.Time) payload {
	p := payload{Receiver: receiver, Status: resolved, Version: "4"}
	for _, s := range states(m) {
		if s.perhaps {
			continue
		}
		a := told{Status: firing, Labels: s.labels(severity(s.notice)), Annotations: s.annotations(m), StartsAt: startOf(s.notice, now)}
		known := maps.Clone(a.Labels)
		delete(known, "severity")
		a.Fingerprint = fingerprint(known)
		if s.life == 0 {
			a.Status, a.EndsAt = resolved, now.UTC()
		} else {
			p.Status = firing
		}
		if len(p.Alerts) == 0 {
			p.CommonLabels, p.CommonAnnotations = maps.Clone(a.Labels), maps.Clone(a.Annotations)
		}
		keepCommon(p.CommonLabels, a.Labels)
		keepCommon(p.CommonAnnotations, a.Annotations)
		p.Alerts = append(p.Alerts, a)
	}
	p.GroupLabels = maps.Clone(p.CommonLabels)
	maps.DeleteFunc(p.GroupLabels, func(name, _ string) bool { return name != "thread" })
	p.GroupKey = "{}:" + selector(p.GroupLabels)
	return p
}

// keepCommon takes out of all what others do not have alike.
func keepCommon(all, others map[string]string) {
	maps.DeleteFunc(all, func(k, v string) bool { return others[k] != v })
}

// selector writes labels as an Alertmanager does in a group's key.
func selector(all map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		parts = append(parts, fmt.Sprintf("%s=%q", name, all[name]))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// fingerprint is an Alertmanager's hash of labels.
func fingerprint(all map[string]string) string {
	const separator = "\xff"
	h := fnv.New64a()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		_, _ = h.Write([]byte(name + separator + all[name] + separator))
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
