package webhook

import (
	"cmp"
	"slices"
	"time"

	"curfew/fleet"
	"curfew/notify"
)

// version is that of the body's form.
const version = 1

// What is sent at most: Standard Webhooks advises small bodies.
const (
	maxTitle = 1000    // bytes
	maxText  = 8 << 10 // bytes, of text and of Markdown each
	maxMany  = 100     // entries of a list
)

// body is what is posted. Every field is documented in docs/channels/webhook.md.
type body struct {
	Version int    `json:"version"`
	ID      string `json:"id"`
	Channel string `json:"channel"`
	news
	Title    string   `json:"title"`
	Text     string   `json:"text"`
	Markdown string   `json:"markdown,omitempty"`
	Silent   bool     `json:"silent"`
	Actions  []action `json:"actions"`
	Mentions []string `json:"mentions"`
	// Together is the other news told in the same message.
	Together []news `json:"together"`
}

// news is one notice.
type news struct {
	Key      string    `json:"key"`
	Thread   string    `json:"thread"`
	Event    string    `json:"event"`
	Severity string    `json:"severity"`
	Category string    `json:"category"`
	At       time.Time `json:"at"`
	Expires  time.Time `json:"expires,omitzero"`
	Reason   string    `json:"reason,omitempty"`
	Subject  *subject  `json:"subject,omitempty"`
	Intent   *intent   `json:"intent,omitempty"`
	Also     []other   `json:"also,omitempty"`
}

type subject struct {
	Ref          string `json:"ref"`
	Kind         string `json:"kind"`
	ID           string `json:"id"`
	Account      string `json:"account,omitempty"`
	Provider     string `json:"provider,omitempty"`
	Name         string `json:"name,omitempty"`
	Owner        string `json:"owner,omitempty"`
	State        string `json:"state,omitempty"`
	Region       string `json:"region,omitempty"`
	GPU          string `json:"gpu,omitempty"`
	GPUs         int    `json:"gpus,omitempty"`
	CostsPerHour string `json:"costs_per_hour,omitempty"`
}

type intent struct {
	ID       int64     `json:"id"`
	Action   string    `json:"action"`
	Goal     string    `json:"goal"`
	State    string    `json:"state"`
	Deadline time.Time `json:"deadline,omitzero"`
}

type other struct {
	Intent int64  `json:"intent,omitempty"`
	Name   string `json:"name"`
}

type action struct {
	Label string `json:"label"`
	URL   string `json:"url"`
	Risky bool   `json:"risky"`
}

// compose puts a message into the documented form. All times are in UTC.
func compose(channel, id string, m notify.Message) body {
	b := body{
		Version: version, ID: id, Channel: channel,
		Title: notify.Cut(m.Title, maxTitle), Text: notify.Cut(m.Plain, maxText), Markdown: notify.Cut(m.Markdown, maxText),
		Silent: m.Silent, Actions: []action{}, Mentions: append([]string{}, few(m.Mentions)...), Together: []news{},
	}
	if b.Title != m.Title {
		b.Text = notify.Cut(m.Title+"\n"+m.Plain, maxText)
	}
	for _, a := range few(notify.Linked(m.Actions)) {
		b.Actions = append(b.Actions, action{Label: a.Label, URL: a.URL, Risky: a.Risky})
	}
	b.news = news{Event: string(m.Event), Severity: string(m.Severity), At: m.At.UTC()}
	for k, n := range few(loudestFirst(m.Notices)) {
		if k == 0 {
			b.news = asNews(n)
		} else {
			b.Together = append(b.Together, asNews(n))
		}
	}
	if b.Thread == "" {
		b.Thread = m.Thread
	}
	return b
}

// loudestFirst puts the most severe first, else as they came.
func loudestFirst(ns []notify.Notice) []notify.Notice {
	return slices.SortedStableFunc(slices.Values(ns), func(a, b notify.Notice) int {
		return cmp.Compare(b.Severity.Rank(), a.Severity.Rank())
	})
}

// few keeps a list short.
func few[T any](all []T) []T { return all[:min(len(all), maxMany)] }

func asNews(n notify.Notice) news {
	out := news{
		Key: n.Key, Thread: n.Thread, Event: string(n.Event), Severity: string(n.Severity), Category: string(n.Category),
		At: n.At.UTC(), Expires: utc(n.Expires), Reason: string(n.Reason.Code),
	}
	for _, o := range few(n.With) {
		out.Also = append(out.Also, other{Intent: o.Intent, Name: o.Name})
	}
	about := n.Subject
	if i := n.Intent; i != nil {
		out.Intent = &intent{ID: i.ID, Action: i.Action.String(), Goal: i.Goal.String(), State: string(i.State), Deadline: utc(i.Deadline)}
		if about.Ref.IsZero() {
			about = i.Subject
		}
		if about.Ref.IsZero() {
			about.Ref = i.Ref
		}
	}
	if !about.Ref.IsZero() {
		out.Subject = asSubject(about)
	}
	return out
}

// utc is the moment in UTC; none stays none.
func utc(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.UTC()
}

func asSubject(i fleet.Instance) *subject {
	s := &subject{
		Ref: i.Ref.String(), Kind: string(i.Ref.Kind), ID: i.Ref.ID, Account: i.AccountName, Provider: i.Provider,
		Name: i.Name, Owner: i.Owner, State: string(i.State), Region: i.Region, GPU: i.GPU.Model, GPUs: i.GPU.Count,
	}
	if price := i.CostNow(); price.Known() {
		s.CostsPerHour = price.PerHour.String()
	}
	return s
}
