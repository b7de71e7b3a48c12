package notify

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"text/template"
	"time"

	"curfew/internal/text"
)

// How much a template may be, give and take.
const (
	maxTemplateBytes = 64 << 10 // of one file
	maxTemplateGives = 16 << 10
	templateTime     = time.Second
)

const (
	templateSuffix  = ".tmpl"
	templateDefault = "default" // of every event that has none of its own
	templateGroup   = "group"   // of several notices in one message
	templateTitle   = "title"   // what a file defines where it has a title of its own
)

// errTemplateSlow says that a template took too long.
var errTemplateSlow = fmt.Errorf("it took more than %s", templateTime)

// Templates are somebody's own words for notices: text/template files, one for each
// event, filled with [TemplateData]. They hold nothing that changes.
type Templates struct {
	dir   string
	files map[string]*template.Template // by event, or default, or group
}

// TemplateError says why a template was left aside.
type TemplateError struct {
	File string // its path
	Err  error
}

// Error gives the template's place and what went wrong there.
func (e *TemplateError) Error() string {
	if at, ok := strings.CutPrefix(e.Err.Error(), "template: "); ok {
		return filepath.Dir(e.File) + string(filepath.Separator) + at // it names file and line itself
	}
	return e.File + ": " + e.Err.Error()
}

// Unwrap gives what went wrong.
func (e *TemplateError) Unwrap() error { return e.Err }

// ReadTemplates reads the templates of a folder: EVENT.tmpl, group.tmpl and
// default.tmpl. What a file calls _NAME.tmpl is there for the others. dir is the
// folder's name in messages. An error names every file that is wrong.
func ReadTemplates(dir string, files fs.FS) (*Templates, error) {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		return nil, fmt.Errorf("read templates in %s: %w", dir, err)
	}
	t := &Templates{dir: dir, files: map[string]*template.Template{}}
	base := template.New("").Option("missingkey=error")
	var errs []error
	own := func(parts bool) {
		for _, e := range entries {
			name := e.Name()
			if e.IsDir() || !strings.HasSuffix(name, templateSuffix) || strings.HasPrefix(name, "_") != parts {
				continue
			}
			if err := t.read(files, base, name, parts); err != nil {
				errs = append(errs, &TemplateError{File: filepath.Join(dir, name), Err: err})
			}
		}
	}
	own(true)
	own(false)
	if len(errs) == 0 && len(t.files) == 0 {
		errs = append(errs, fmt.Errorf("%s holds no template; write one, such as default.tmpl, or leave the key out", dir))
	}
	return t, errors.Join(errs...)
}

// read parses one file: for the others where it is a part, else by its event.
func (t *Templates) read(files fs.FS, base *template.Template, name string, part bool) error {
	event := strings.TrimSuffix(name, templateSuffix)
	if known := templateNames(); !part && !slices.Contains(known, event) {
		return fmt.Errorf("there is no event %q; name it %s and %s", event, strings.Join(known, ", "), templateSuffix)
	}
	data, err := fs.ReadFile(files, name)
	switch {
	case err != nil:
		return err
	case len(data) > maxTemplateBytes:
		return fmt.Errorf("it has %d bytes; %d are allowed", len(data), maxTemplateBytes)
	}
	if part {
		_, err = base.New(name).Parse(string(data))
		return err
	}
	own, err := base.Clone()
	if err == nil {
		own, err = own.New(name).Parse(string(data))
	}
	if err != nil {
		return err
	}
	t.files[event] = own
	return nil
}

// templateNames are the names that a template can have.
func templateNames() []string {
	return append(SampleEvents(), templateDefault)
}

// of gives the template for an event; nil: the built-in words are used. A group is
// never told in the words of default.
func (t *Templates) of(event string) *template.Template {
	if own, ok := t.files[event]; ok || event == templateGroup {
		return own
	}
	return t.files[templateDefault]
}

// fill puts a notice into the words of a template: its title, which is empty where the
// template defines none, and its Markdown.
func (t *Templates) fill(tmpl *template.Template, markup, plain TemplateData) (title, body string, err error) {
	defer func() {
		if err != nil {
			err = &TemplateError{File: filepath.Join(t.dir, tmpl.Name()), Err: err}
		}
	}()
	if own := tmpl.Lookup(templateTitle); own != nil {
		if title, err = execute(own, plain); err != nil {
			return "", "", err
		}
		if title = oneLine(title, maxTitleBytes); title == "" {
			return "", "", errors.New("its title gives nothing")
		}
	}
	if body, err = execute(tmpl, markup); err != nil {
		return "", "", err
	}
	if body = strings.TrimSpace(clean(body)); body == "" {
		return "", "", errors.New("it gives nothing")
	}
	return title, body, nil
}

// execute runs a template. One that takes too long is left behind, and ends with the
// next word that it gives.
func execute(t *template.Template, data TemplateData) (string, error) {
	out := &templateOut{}
	done := make(chan error, 1)
	go func() { done <- t.Execute(out, data) }()
	timer := time.NewTimer(templateTime)
	defer timer.Stop()
	select {
	case err := <-done:
		return out.words.String(), err
	case <-timer.C:
		out.late.Store(true)
		return "", errTemplateSlow
	}
}

// templateOut takes what a template gives, as long as it may.
type templateOut struct {
	words strings.Builder
	late  atomic.Bool
}

// Write refuses what is too much or too late.
func (o *templateOut) Write(p []byte) (int, error) {
	switch {
	case o.late.Load():
		return 0, errTemplateSlow
	case o.words.Len()+len(p) > maxTemplateGives:
		return 0, fmt.Errorf("it gives more than %d bytes", maxTemplateGives)
	}
	return o.words.Write(p)
}

// Check fills every template with samples of what it is for, in each language, and
// gives what went wrong, each once.
func (t *Templates) Check(now time.Time) []error {
	var errs []error
	seen := map[string]bool{}
	for _, lang := range []text.Language{text.English, text.Chinese} {
		words, err := text.New(lang, now.Location())
		if err != nil {
			return []error{err}
		}
		open := OpenChannel{Kind: Kind{Name: "console"}, Renderer: words, Templates: t, Actions: sampleActions}
		for _, event := range SampleEvents() {
			_, err := open.Render(Sample(event, now), now)
			if err != nil && !seen[err.Error()] {
				seen[err.Error()] = true
				errs = append(errs, err)
			}
			if errors.Is(err, errTemplateSlow) {
				return errs // it may still be at work
			}
		}
	}
	return errs
}

// Render puts notices into one message: in the words of the channel's own templates
// where it has some for them, else in the built-in ones. An error is a
// [*TemplateError] and says why a template was left aside; the message is whole all the
// same.
func (o OpenChannel) Render(ns []Notice, now time.Time) (Message, error) {
	p, most := pageOf(ns, o.Renderer, now)
	m := p.message(most)
	if o.Actions != nil && len(ns) == 1 && len(ns[0].With) == 0 {
		m.Actions = o.Actions(ns[0])
	}
	if o.Templates == nil {
		return m, nil
	}
	event := string(most.Event)
	if len(ns) > 1 {
		event = templateGroup
	}
	tmpl := o.Templates.of(event)
	if tmpl == nil {
		return m, nil
	}
	data := func(s script) TemplateData {
		d := s.data(p, most, m.Actions)
		d.Event, d.Channel = event, o.Kind.Name
		if event == templateGroup {
			for _, n := range ns {
				one := written(n, o.Renderer, now)
				each := s.data(one, n, nil)
				each.Channel = o.Kind.Name
				d.Notices = append(d.Notices, each)
			}
		}
		return d
	}
	title, body, err := o.Templates.fill(tmpl, data(inMarkup()), data(inPlain()))
	if err != nil {
		return m, err
	}
	m.Title, m.Markdown, m.Plain = cmp.Or(title, m.Title), body, unmark(body)
	return m, nil
}
