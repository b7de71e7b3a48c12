package alertmanager_test

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"
	"unicode/utf8"

	"curfew/notify/notifytest"
)

type alert struct {
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	StartsAt    time.Time         `json:"startsAt"`
	EndsAt      time.Time         `json:"endsAt"`
}

// check refuses what an Alertmanager refuses, and what it would drop without a word.
func (a alert) check() error {
	var errs []error
	for what, all := range map[string]map[string]string{"label": a.Labels, "annotation": a.Annotations} {
		for name, value := range all {
			if !regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`).MatchString(name) || value == "" || !utf8.ValidString(value) {
				errs = append(errs, fmt.Errorf("%s %q is %q", what, name, value))
			}
		}
	}
	if a.Labels["alertname"] == "" || a.Labels["severity"] == "" || a.Labels["thread"] == "" || a.Annotations["summary"] == "" {
		errs = append(errs, fmt.Errorf("labels %v, annotations %v", a.Labels, a.Annotations))
	}
	if a.EndsAt.IsZero() || a.EndsAt.Before(a.StartsAt) {
		errs = append(errs, fmt.Errorf("ends at %v, starts at %v", a.EndsAt, a.StartsAt))
	}
	if len(a.Labels["thread"]) > 500 || len(a.Annotations["summary"]) > 1000 || len(a.Annotations["description"]) > 8192 || len(a.Annotations["actions"]) > 8192 {
		errs = append(errs, errors.New("a label or an annotation is too long"))
	}
	return errors.Join(errs...)
}

func checkAlerts(body any) error {
	var errs []error
	all, _ := body.(*[]alert)
	if len(*all) == 0 {
		return errors.New("no alert")
	}
	for _, a := range *all {
		errs = append(errs, a.check())
	}
	return errors.Join(errs...)
}

type payload struct {
	Receiver          string            `json:"receiver"`
	Status            string            `json:"status"`
	Alerts            []hooked          `json:"alerts"`
	GroupLabels       map[string]string `json:"groupLabels"`
	CommonLabels      map[string]string `json:"commonLabels"`
	CommonAnnotations map[string]string `json:"commonAnnotations"`
	ExternalURL       string            `json:"externalURL"`
	Version           string            `json:"version"`
	GroupKey          string            `json:"groupKey"`
	TruncatedAlerts   int               `json:"truncatedAlerts"`
}

type hooked struct {
	Status       string            `json:"status"`
	Labels       map[string]string `json:"labels"`
	Annotations  map[string]string `json:"annotations"`
	StartsAt     time.Time         `json:"startsAt"`
	EndsAt       time.Time         `json:"endsAt"`
	GeneratorURL string            `json:"generatorURL"`
	Fingerprint  string            `json:"fingerprint"`
}

func (p payload) check() error {
	var errs []error
	firing := false
	for _, a := range p.Alerts {
		ended := a.Status == "resolved"
		firing = firing || !ended
		if a.EndsAt.IsZero() == ended || !ended && a.Status != "firing" || !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(a.Fingerprint) {
			errs = append(errs, fmt.Errorf("alert %+v", a))
		}
		if !ended {
			a.EndsAt = a.StartsAt
		}
		errs = append(errs, alert{a.Labels, a.Annotations, a.StartsAt, a.EndsAt}.check())
		for k, v := range p.CommonLabels {
			if a.Labels[k] != v {
				errs = append(errs, fmt.Errorf("common label %s is %q, and of an alert %q", k, v, a.Labels[k]))
			}
		}
	}
	if len(p.Alerts) == 0 || p.Version != "4" || p.Receiver != "am" || (p.Status == "firing") != firing || p.GroupKey == "" || p.GroupLabels == nil || p.CommonAnnotations == nil {
		errs = append(errs, fmt.Errorf("payload %+v", p))
	}
	return errors.Join(errs...)
}

func expect(mode string) notifytest.Expect {
	e := notifytest.Expect{
		Method: http.MethodPost, Path: "/api/v2/alerts", ContentType: "application/json",
		Header: http.Header{"Authorization": {"Basic " + pair}, "User-Agent": {"curfew"}},
		Body:   func() any { return new([]alert) }, Check: checkAlerts,
	}
	if mode == "webhook" {
		e.Path, e.Body, e.Check = "/hook", func() any { return new(payload) }, func(body any) error { return body.(*payload).check() }
	}
	return e
}
