package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"curfew/fleet"
	"curfew/internal/execute"
	"curfew/internal/httpx"
	"curfew/internal/store"
	"curfew/policies"
	"curfew/providers"
	"curfew/signals/probe"
)

// The reasons of saving images.
const (
	ReasonImageFirst    fleet.Code = "image.first"
	ReasonImageMaking   fleet.Code = "image.making"
	ReasonImageReading  fleet.Code = "image.reading"
	ReasonImageRefused  fleet.Code = "image.refused"
	ReasonImageCannot   fleet.Code = "image.cannot"
	ReasonImageUnnamed  fleet.Code = "image.unnamed"
	ReasonImageGone     fleet.Code = "image.gone"
	ReasonImageNever    fleet.Code = "image.never-came"
	ReasonImageTimedOut fleet.Code = "image.timed-out"
	ReasonImageSpare    fleet.Code = "image.spare"
)

const (
	// imageEvery is the pause between two looks at the list of images.
	imageEvery = 30 * time.Second
	// imageShows is how much later than the platform's settle time an image that was
	// accepted may show in the list.
	imageShows = time.Minute
	// imageNameMost is how long a name may be, and imageNamePart of that which people
	// chose.
	imageNameMost, imageNamePart = 60, 36
)

// secureAll does what must be done with an instance's data before an intent is carried
// out: what is done inside it first, and then its image.
func (a *App) secureAll(ctx context.Context, p providers.Account, in fleet.Intent, seen fleet.Instance) (execute.Answer, error) {
	answer, err := a.secure(ctx, p, in, seen)
	if err != nil || answer.Word != execute.Go || answer.Worked {
		return answer, err
	}
	if in.Ref.Kind == fleet.KindInstance && in.Action == fleet.Release {
		a.refresh(ctx, p, in.Ref, belongingsMaxAge, fleet.ResourceKinds()...)
	}
	return a.saveImages(ctx, p, in, seen)
}

// imaging is one image that is being made.
type imaging struct {
	app     *App
	account providers.Account
	intent  fleet.Intent
	seen    fleet.Instance
	policy  string
	run     string
	want    fleet.SaveImage
	row     fleet.Secured // as journaled; zero: it was not begun
}

// saveImages makes the images that policies want of an instance before its data goes.
// It is done step by step: each journals what is sent before it is sent, and comes back
// while the platform is at work.
func (a *App) saveImages(ctx context.Context, p providers.Account, in fleet.Intent, seen fleet.Instance) (execute.Answer, error) {
	nothing := execute.Answer{Word: execute.Go}
	if in.Ref.Kind != fleet.KindInstance || in.By != execute.ByPolicy || !policies.Effect(seen, in.Action).Destroys() {
		return nothing, nil
	}
	for _, v := range in.Verdicts {
		if v.Terms.Data == nil || v.Terms.Data.SaveImage == nil || v.Terms.Mode != fleet.Enforce {
			continue
		}
		all, err := a.store.Secured(ctx)
		if err != nil {
			return execute.Answer{}, err
		}
		one := imaging{app: a, account: p, intent: in, seen: seen, policy: v.Policy, want: *v.Terms.Data.SaveImage}
		if v.Ground != nil {
			one.run = v.Ground.Run
		}
		one.row, _ = fleet.RecordOf(all[in.Ref], seen.Boot, one.policy, one.run, fleet.SecuredByImage)
		answer, err := one.step(ctx, all[in.Ref])
		if err != nil || answer.Word != execute.Go {
			return answer, err
		}
	}
	return nothing, nil
}

// step takes an image as far as it goes now. Go: it is ready, or it failed, and
// policies and guard judge by that.
func (m *imaging) step(ctx context.Context, all []fleet.Secured) (execute.Answer, error) {
	now := m.app.clock.Now()
	done := execute.Answer{Word: execute.Go}
	switch {
	case m.row.Failed():
		if again := m.row.Again(); m.seen.State != fleet.StateRunning || again.IsZero() || now.Before(again) {
			return done, nil
		}
		return m.begin(ctx, all)
	case m.row.StartedAt.IsZero():
		return m.begin(ctx, all)
	}
	found, err := m.find(ctx)
	switch {
	case err != nil && m.row.OK, err != nil && now.Before(m.row.StartedAt.Add(m.want.Timeout)):
		return m.wait(fleet.Because(ReasonImageReading, fleet.Values{"error": fleet.Text(err.Error())})), nil
	case err != nil:
		return done, m.end(ctx, fleet.Because(ReasonImageReading, fleet.Values{"error": fleet.Text(err.Error())}))
	case found != nil && found.Ready && m.row.OK:
		return done, nil
	case found != nil && found.Ready:
		m.row.Image = found.Ref
		return done, m.end(ctx, fleet.Reason{})
	case found != nil && !now.Before(m.row.StartedAt.Add(m.want.Timeout)):
		m.row.Image = found.Ref
		return done, m.end(ctx, fleet.Because(ReasonImageTimedOut, fleet.Values{"image": fleet.Text(m.row.Name), "timeout": fleet.Span(m.want.Timeout)}))
	case found != nil:
		return m.wait(fleet.Because(ReasonImageMaking, fleet.Values{"image": fleet.Text(m.row.Name)})), nil
	case now.Before(m.shown()):
		return m.wait(fleet.Because(ReasonImageMaking, fleet.Values{"image": fleet.Text(m.row.Name)})), nil
	case !m.row.Image.IsZero():
		return done, m.end(ctx, fleet.Because(ReasonImageGone, fleet.Values{"image": fleet.Text(m.row.Name)}))
	case m.row.Tries < fleet.SecureTries:
		// Nobody knows whether it was ever sent, and the list shows by now that it had
		// no effect.
		return m.begin(ctx, all)
	}
	return done, m.end(ctx, fleet.Because(ReasonImageNever, fleet.Values{"image": fleet.Text(m.row.Name)}))
}

// shown is when an image that is being made is in the list for sure.
func (m *imaging) shown() time.Time {
	return m.row.StartedAt.Add(writeTimeout + m.account.Kind.SettleTime + imageShows)
}

func (m *imaging) wait(why fleet.Reason) execute.Answer {
	return execute.Answer{Word: execute.PutOff, Reason: why, Until: m.app.clock.Now().Add(imageEvery), Silent: true}
}

// find reads the list of images and gives the one that was asked for: by its id, or by
// its name where no answer told the id; nil where the list does not show it.
func (m *imaging) find(ctx context.Context) (*fleet.Resource, error) {
	region, _ := m.app.regionOf(m.seen.Ref)
	if err := m.app.inv.PollResources(httpx.WithClass(ctx, httpx.Act), m.account, region, fleet.KindImage); err != nil {
		return nil, err
	}
	for _, r := range m.app.inv.Resources().Resources {
		known, ok := m.app.inv.Resource(r.Ref)
		if r.Ref.Kind != fleet.KindImage || r.Ref.Account != m.seen.Ref.Account || !ok || !known.MissingSince.IsZero() {
			continue
		}
		byName := m.row.Image.IsZero() && r.Name == m.row.Name && (r.Source.IsZero() || r.Source == m.seen.Ref)
		if r.Ref == m.row.Image || byName {
			return r, nil
		}
	}
	return nil, nil
}

// begin asks the platform for the image, unless the release would not go on now: an
// image costs. What is asked for is journaled before.
func (m *imaging) begin(ctx context.Context, all []fleet.Secured) (execute.Answer, error) {
	a, done := m.app, execute.Answer{Word: execute.Go}
	began := a.clock.Now()
	if m.seen.State == fleet.StateRunning {
		a.lookNow(ctx, m.seen)
	}
	first, err := a.askFirst(ctx, m.seen, m.intent, began)
	switch {
	case err != nil:
		return execute.Answer{}, err
	case first.Word == execute.PutOff:
		return first, nil
	case first.Word == execute.Against:
		return done, nil // what is against it is told by whoever asks in earnest
	}
	before := m.row
	m.row = fleet.Secured{
		Ref: m.seen.Ref, Boot: m.seen.Boot, Policy: m.policy, By: fleet.SecuredByImage, Run: m.run,
		Name: before.Name, Tries: before.Tries + 1, Earlier: earlierImages(all, m.seen.Boot, m.policy),
	}
	why := m.cannot()
	if m.row.Name == "" || before.Failed() {
		var unnamed fleet.Reason
		if m.row.Name, unnamed = m.name(); !unnamed.IsZero() {
			why = fleet.Because(ReasonImageUnnamed, fleet.Values{"why": fleet.Nested(unnamed)})
		}
	}
	if err := m.save(ctx, func(tx *store.Tx) { m.row.StartedAt = tx.Now }); err != nil {
		return execute.Answer{}, err
	}
	if !why.IsZero() {
		return done, m.end(ctx, why)
	}
	a.log.Info().Str("instance", m.seen.Ref.String()).Str("policy", m.policy).Str("image", m.row.Name).Int("try", m.row.Tries).Msg("image is asked for")
	writing, cancel := context.WithTimeout(httpx.WithClass(ctx, httpx.Act), writeTimeout)
	ref, err := m.account.SaveImage(writing, m.seen, providers.ImageSpec{Name: m.row.Name, Token: m.row.Name})
	cancel()
	if ctx.Err() != nil {
		return execute.Answer{}, ctx.Err() // the list tells at the next start
	}
	if err != nil {
		a.log.Warn().Err(err).Str("instance", m.seen.Ref.String()).Str("kind", string(fleet.KindOf(err))).Msg("provider answered the wish for an image with an error")
	}
	switch fleet.KindOf(err) {
	case "":
		m.row.Image = ref
		return m.wait(fleet.Because(ReasonImageMaking, fleet.Values{"image": fleet.Text(m.row.Name)})), m.save(ctx, func(*store.Tx) {})
	case fleet.RateLimited, fleet.Banned:
		// It was not heard: it is asked for again, as if never before.
		pause := time.Minute
		if e, ok := errors.AsType[*fleet.Error](err); ok {
			pause = max(pause, e.RetryAfter)
		}
		m.row.StartedAt, m.row.Tries = time.Time{}, before.Tries
		refused := fleet.Because(ReasonImageRefused, fleet.Values{"error": fleet.Text(err.Error())})
		return execute.Answer{Word: execute.PutOff, Reason: refused, Until: a.clock.Now().Add(pause)}, m.save(ctx, func(*store.Tx) {})
	case fleet.Unauthorized, fleet.Unsupported, fleet.Invalid, fleet.ReadOnly, fleet.OutOfStock, fleet.NotFound:
		return done, m.end(ctx, fleet.Because(ReasonImageRefused, fleet.Values{"error": fleet.Text(err.Error())}))
	}
	// Only the list tells whether there will be an image.
	return m.wait(fleet.Because(ReasonImageMaking, fleet.Values{"image": fleet.Text(m.row.Name)})), nil
}

// cannot says why no image can be made, or none that anybody could see to be ready.
func (m *imaging) cannot() fleet.Reason {
	if m.account.SaveImage == nil || m.account.Resources[fleet.KindImage] == nil {
		return fleet.Because(ReasonImageCannot, fleet.Values{"provider": fleet.Text(m.account.Kind.Title)})
	}
	return fleet.Reason{}
}

// name is that of the image: what people chose, and the intent's number and the time,
// so that there is no other of that name.
func (m *imaging) name() (string, fleet.Reason) {
	q, err := probe.ParseText(m.want.Name)
	if err != nil {
		return "", fleet.Because(ReasonImageRefused, fleet.Values{"error": fleet.Text(err.Error())})
	}
	chosen, why := q.About(m.seen)
	if !why.IsZero() {
		return "", why
	}
	unique := fmt.Sprintf("-c%d-%s", m.intent.ID, strconv.FormatInt(m.app.clock.Now().Unix(), 36))
	return imageName(chosen, imageNameMost-len(unique)) + unique, fleet.Reason{}
}

// imageName gives what platforms take in a name: letters, digits, and few signs.
func imageName(s string, most int) string {
	most = min(most, imageNamePart)
	var b strings.Builder
	for _, c := range s {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '_' && c != '.' {
			c = '-'
		}
		if b.Len()+len(string(c)) > most {
			break
		}
		b.WriteRune(c)
	}
	return strings.Trim(b.String(), "-.")
}

// save journals the row as it is after a change, if the release still stands.
func (m *imaging) save(ctx context.Context, change func(tx *store.Tx)) error {
	return m.app.store.Update(ctx, func(tx *store.Tx) error {
		change(tx)
		return m.app.saveSecured(tx, m.row)
	})
}

// end journals how it ended: ready, where why is zero. Then the images that are older
// than the newest few are no longer wanted.
func (m *imaging) end(ctx context.Context, why fleet.Reason) error {
	log := m.app.log.With().Str("instance", m.seen.Ref.String()).Str("policy", m.policy).Str("image", m.row.Name).Logger()
	err := m.app.store.Update(ctx, func(tx *store.Tx) error {
		m.row.EndedAt, m.row.OK, m.row.Why = tx.Now, why.IsZero(), why
		if err := m.app.saveSecured(tx, m.row); err != nil || !m.row.OK {
			return err
		}
		return m.keepLast(tx)
	})
	if err == nil && why.IsZero() {
		log.Info().Dur("took", m.row.EndedAt.Sub(m.row.StartedAt)).Msg("image is ready")
	} else if err == nil {
		log.Warn().Str("reason", string(why.Code)).Msg("no image was made, nothing will be released for it")
	}
	return err
}

// keepLast wants those of the images deleted that this policy made of the instance and
// of which there are enough newer ones.
func (m *imaging) keepLast(tx *store.Tx) error {
	if m.want.KeepLast == 0 {
		return nil
	}
	all, err := tx.Secured()
	if err != nil {
		return err
	}
	left, err := tx.Left()
	if err != nil {
		return err
	}
	kept := 0
	for _, ref := range imagesMade(all[m.seen.Ref], m.policy) {
		r, ok := m.app.inv.Resource(ref)
		if _, wished := left[ref]; !ok || wished {
			continue
		}
		if kept++; kept <= m.want.KeepLast {
			continue
		}
		if m.account.Delete[fleet.KindImage] == nil {
			return m.app.tellFinding(tx, fleet.Finding{
				Policy: m.policy, Ref: m.seen.Ref, Severity: fleet.Info, Category: fleet.CategoryMoney, Condition: "images-stay",
				Reason: fleet.Because(ReasonImageSpare, fleet.Values{"provider": fleet.Text(m.account.Kind.Title), "keep": fleet.Number(float64(m.want.KeepLast))}),
			})
		}
		if err := tx.SaveLeft(fleet.Left{
			Ref: r.Resource.Ref, Instance: m.seen.Ref, Name: m.seen.DisplayName(), Policy: m.policy, ReleasedAt: tx.Now, Keep: m.want.KeepLast,
		}); err != nil {
			return err
		}
	}
	return nil
}

// imagesMade lists the images that a policy made of an instance, the newest first.
func imagesMade(all []fleet.Secured, policy string) []fleet.Ref {
	rows := slices.DeleteFunc(slices.Clone(all), func(s fleet.Secured) bool { return s.By != fleet.SecuredByImage || s.Policy != policy })
	slices.SortFunc(rows, func(a, b fleet.Secured) int {
		return cmp.Or(b.StartedAt.Compare(a.StartedAt), strings.Compare(string(b.Boot), string(a.Boot)))
	})
	var made []fleet.Ref
	for _, s := range rows {
		if s.OK && !s.Image.IsZero() {
			made = append(made, s.Image)
		}
		made = append(made, s.Earlier...)
	}
	return made
}

// earlierImages lists the images that a policy made of an instance in one Boot, the
// newest first: its row is about to be replaced.
func earlierImages(all []fleet.Secured, boot fleet.Boot, policy string) []fleet.Ref {
	return imagesMade(slices.DeleteFunc(slices.Clone(all), func(s fleet.Secured) bool { return !s.Boot.Same(boot) }), policy)
}

// imageFirst says in an announcement that an image is made before the act, or before
// the release that follows it.
func (a *App) imageFirst(in fleet.Intent) []fleet.Reason {
	if in.By != execute.ByPolicy || in.Goal != fleet.Release {
		return nil
	}
	var first []fleet.Reason
	for _, v := range in.Verdicts {
		if v.Goal == fleet.Release && v.Terms.Data != nil && v.Terms.Data.SaveImage != nil {
			first = append(first, fleet.Because(ReasonImageFirst, fleet.Values{
				"policy": fleet.Text(v.Policy), "timeout": fleet.Span(v.Terms.Data.SaveImage.Timeout)}))
		}
	}
	return first
}
