package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"curfew/fleet"
	"curfew/internal/config"
	"curfew/internal/ctl"
	"curfew/internal/estimate"
	"curfew/internal/text"
)

// estimateFlags are what a job is described by, as it is written.
type estimateFlags struct {
	quotes, epochTime, efficiency                                []string
	hours, cards, setup, upload, download, disk, snapshot, image string
	keep, rework, margin, utilisation, jobs, instance            string
	forget                                                       bool
	epochs                                                       int
}

func (p *program) estimateCommand() *cobra.Command {
	var f estimateFlags
	c := &cobra.Command{
		Use: "estimate", Short: "Reckon what a job will cost, before it runs",
		Long: `estimate reckons what a job will cost at every offer it knows, cheapest first: the
total and its five items (instance, disk, snapshots and images, public IP, traffic),
what a unit of work comes to, and from how many hours on something prepaid is the
cheaper one.

It knows the offers of price lists (--quotes FILE), the rates and the accounts' prices
of the configuration, and what the running instances cost. With --quotes no
configuration is needed. A price list has a line for each offer:

  - {name: a, gpu: RTX 4090, price: 1.98 CNY, per: card-hour, as_of: 2026-10-01, source: PAGE}

--hours is how long the job takes with the given number of --cards. With several
numbers to compare, or with --efficiency, it is how long it takes on one card; so is
--epoch-time. What was measured at one offer is given by its name, its platform or its
GPU: --epoch-time a=48s, --efficiency a:4=0.79.

With --for REF it reckons with the price of that running instance, as it is billed, and
keeps the estimate: you are told when the instance has cost more than the total with
its margin since then, and when the wallet will not last until its end. It is closed
when the instance stops, and replaced by the next one; curfew explain REF shows it
beside what it did cost. --forget drops it.`,
		Example: `  curfew estimate --quotes prices.yaml --hours 30 --cards 8
  curfew estimate --quotes prices.yaml --epochs 50 --epoch-time a=48s,b=63s
  curfew estimate --hours 100 --cards 1,4,8 --efficiency 4=0.79,8=0.68
  curfew estimate --hours 28 --setup 2h --upload 80GB@5MB/s --disk 500GB --keep 30d --download 50GB
  curfew estimate --quotes prices.yaml -f jobs.yaml
  curfew estimate --for exp-llama --hours 30
  curfew estimate --for exp-llama --forget`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.instance != "" || f.forget {
				return p.estimateFor(c.Context(), f, c.Flags().Changed)
			}
			jobs, err := f.read(c.Flags().Changed)
			if err != nil {
				return usage(err)
			}
			return p.estimate(c.Context(), f, jobs)
		},
	}
	flags := c.Flags()
	flags.StringArrayVar(&f.quotes, "quotes", nil, "a price list `FILE`; may be given several times")
	flags.StringVar(&f.hours, "hours", "", "how many `HOURS` of work it is")
	flags.IntVar(&f.epochs, "epochs", 0, "how many epochs it is (`N`)")
	flags.StringSliceVar(&f.epochTime, "epoch-time", nil, "how long an epoch takes: `48s`, or a=48s,b=63s where it was measured")
	flags.StringVar(&f.cards, "cards", "1", "how many cards: `N`, or several to compare, such as 1,4,8")
	flags.StringSliceVar(&f.efficiency, "efficiency", nil, "the share of linear speed-up that so many cards reach: `4=0.79`, or a:4=0.79 where it was measured")
	flags.StringVar(&f.setup, "setup", "", "`TIME` before the work begins; it is paid for")
	flags.StringVar(&f.upload, "upload", "", "`DATA` to bring there, and how fast: 80GB@5MB/s; waiting is paid for")
	flags.StringVar(&f.download, "download", "", "`DATA` to take away, which is traffic: 50GB, or 50GB@5MB/s")
	flags.StringVar(&f.disk, "disk", "", "`DATA` on the disk: 100GB")
	flags.StringVar(&f.snapshot, "snapshot", "", "`DATA` in snapshots")
	flags.StringVar(&f.image, "image", "", "`DATA` in saved images")
	flags.StringVar(&f.keep, "keep", "", "for how long data is kept from the beginning, such as `30d` (default: while it runs)")
	flags.StringVar(&f.rework, "rework", "", "the `SHARE` of the work that is done again on spot: 15%")
	flags.StringVar(&f.margin, "margin", "20%", "the `SHARE` that is put on top of the total")
	flags.StringVar(&f.utilisation, "utilization", "", "how busy the cards are, such as `50%`; says what 95% would save")
	flags.StringVarP(&f.jobs, "jobs", "f", "", "a `FILE` of jobs with the same inputs, such as a week's; -f for short")
	flags.StringVar(&f.instance, "for", "", "keep the estimate for the running instance `REF`, at its own price")
	flags.BoolVar(&f.forget, "forget", false, "with --for: drop the estimate that was kept")
	for _, list := range []string{"quotes", "epoch-time", "efficiency"} {
		flags.Lookup(list).DefValue = ""
	}
	flags.Lookup("epochs").DefValue = ""
	return c
}

// jobFlags are those that describe one job, and so do not go with a file of jobs.
func jobFlags() []string {
	return []string{
		"hours", "epochs", "epoch-time", "cards", "efficiency", "setup", "upload", "download", "disk", "snapshot", "image", "keep", "rework",
	}
}

// read reads the job that the flags describe; nil: it is in a file.
func (f estimateFlags) read(given func(string) bool) ([]estimate.Job, error) {
	for _, share := range []struct{ name, text string }{{"margin", f.margin}, {"utilization", f.utilisation}} {
		if _, err := estimate.ParsePercent(share.text); err != nil && share.text != "" {
			return nil, fmt.Errorf("--%s: %w", share.name, err)
		}
	}
	if now, _ := estimate.ParsePercent(f.utilisation); f.utilisation != "" && (now.IsZero() || now.Cmp(busy()) >= 0) {
		return nil, fmt.Errorf("--utilization %s: write more than 0%% and less than 95%%", f.utilisation)
	}
	if f.jobs != "" {
		for _, name := range append(jobFlags(), "utilization") {
			if given(name) {
				return nil, fmt.Errorf("--%s describes one job, and --jobs names a file of them; write it there", name)
			}
		}
		return nil, nil
	}
	epochs := given("epochs") || given("epoch-time")
	switch {
	case given("hours") && epochs:
		return nil, errors.New("--hours stands beside --epochs; keep one of the two")
	case !given("hours") && !epochs:
		return nil, errors.New("how much work is it? write --hours 30, or --epochs 50 --epoch-time 48s, or -f and a file of jobs")
	case epochs && (f.epochs < 1 || len(f.epochTime) == 0):
		return nil, errors.New("--epochs and --epoch-time go together; write such as --epochs 50 --epoch-time 48s")
	}
	j := estimate.Job{Epochs: f.epochs}
	var problems []error
	readFlag(&problems, "hours", f.hours, estimate.ParseHours, &j.Hours)
	readFlag(&problems, "cards", f.cards, counts, &j.Cards)
	readFlag(&problems, "setup", f.setup, span, &j.Setup)
	readFlag(&problems, "upload", f.upload, estimate.ParseTransfer, &j.Upload)
	readFlag(&problems, "download", f.download, estimate.ParseTransfer, &j.Download)
	readFlag(&problems, "disk", f.disk, estimate.ParseSize, &j.DiskGB)
	readFlag(&problems, "snapshot", f.snapshot, estimate.ParseSize, &j.SnapshotGB)
	readFlag(&problems, "image", f.image, estimate.ParseSize, &j.ImageGB)
	readFlag(&problems, "keep", f.keep, span, &j.Keep)
	readFlag(&problems, "rework", f.rework, estimate.ParsePercent, &j.Rework)
	for _, s := range f.epochTime {
		if j.EpochTime == nil {
			j.EpochTime = map[string]time.Duration{}
		}
		name, length := named(s)
		var d time.Duration
		readFlag(&problems, "epoch-time", length, span, &d)
		j.EpochTime[name] = d
	}
	for _, s := range f.efficiency {
		if err := efficiency(&j, s); err != nil {
			problems = append(problems, fmt.Errorf("--efficiency: %w", err))
		}
	}
	return []estimate.Job{j}, errors.Join(problems...)
}

// readFlag reads what is written behind a flag, if anything is.
func readFlag[V any](problems *[]error, name, s string, parse func(string) (V, error), into *V) {
	if s == "" {
		return
	}
	v, err := parse(s)
	if err != nil {
		*problems = append(*problems, fmt.Errorf("--%s: %w", name, err))
		return
	}
	*into = v
}

// named splits NAME=VALUE; without a name it is for every offer.
func named(s string) (name, value string) {
	n := strings.LastIndexByte(s, '=')
	if n < 0 {
		return "", s
	}
	return strings.TrimSpace(s[:n]), strings.TrimSpace(s[n+1:])
}

func counts(s string) ([]int, error) {
	var out []int
	for part := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 1_000_000 {
			return nil, fmt.Errorf("%q is not a number of cards; write such as 8, or 1,4,8", part)
		}
		out = append(out, n)
	}
	return out, nil
}

// efficiency reads CARDS=SHARE or NAME:CARDS=SHARE.
func efficiency(j *estimate.Job, s string) error {
	where, share := named(s)
	name, cards := "", where
	if n := strings.LastIndexByte(where, ':'); n >= 0 {
		name, cards = strings.TrimSpace(where[:n]), where[n+1:]
	}
	n, err := counts(cards)
	if err != nil {
		return fmt.Errorf("%q: %w", s, err)
	}
	v, err := estimate.ParseShare(share)
	if err != nil {
		return err
	}
	if j.Efficiency == nil {
		j.Efficiency = map[string]map[int]estimate.Number{}
	}
	if j.Efficiency[name] == nil {
		j.Efficiency[name] = map[int]estimate.Number{}
	}
	j.Efficiency[name][n[0]] = v
	return nil
}

// known is what there is to reckon with.
type known struct {
	offers []estimate.Offer
	fx     estimate.FX
	from   map[string]string // where each rate of fx stands
}

func (k *known) add(r config.Rates, file string) {
	k.offers = append(k.offers, r.Quotes...)
	for currency, to := range r.FX {
		k.fx[currency], k.from[currency] = to, file
	}
}

// estimated is the answer for programs.
type estimated struct {
	estimate.Answer
	Utilisation *busier `json:"utilization,omitempty"`
}

// busier is how many times less an instance costs whose cards are busy for a larger
// share of the time.
type busier struct {
	Now   estimate.Number `json:"now"`
	Then  estimate.Number `json:"then"`
	Times estimate.Number `json:"times_less"`
}

func (p *program) estimate(ctx context.Context, f estimateFlags, jobs []estimate.Job) error {
	if f.jobs != "" {
		data, err := os.ReadFile(f.jobs)
		if err != nil {
			return usage(fmt.Errorf("read jobs: %w", err))
		}
		if jobs, err = config.Jobs(f.jobs, data); err != nil {
			return usage(err)
		}
	}
	k, err := p.offers(ctx, f.quotes)
	if err != nil {
		return err
	}
	if len(k.offers) == 0 {
		return errors.New("there is no offer to reckon with; name a price list with --quotes FILE, or write rates, or prices of an account, into the configuration")
	}
	if unused := estimate.Unused(jobs, k.offers); len(unused) > 0 {
		return usage(fmt.Errorf("nothing is called %s; known are %s", strings.Join(unused, ", "), strings.Join(names(k.offers), ", ")))
	}
	margin, err := estimate.ParsePercent(f.margin)
	if err != nil {
		return usage(err)
	}
	a := estimate.Rank(estimate.Question{Jobs: jobs, Offers: k.offers, FX: k.fx, Margin: margin})
	if p.asJSON {
		answer := estimated{Answer: a}
		if now, bad := estimate.ParsePercent(f.utilisation); f.utilisation != "" && bad == nil {
			answer.Utilisation = &busier{Now: now, Then: busy(), Times: estimate.Utilisation(now, busy())}
		}
		err = p.writeJSON(answer)
	} else {
		p.page(p.now()).estimate(a, k, f.utilisation)
	}
	if err == nil && len(a.Tables) == 0 {
		return errors.New("no offer could be reckoned with")
	}
	return err
}

// names lists what an offer can be called, for people.
func names(offers []estimate.Offer) []string {
	all := map[string]bool{}
	for _, o := range offers {
		for _, name := range []string{o.Name, o.Platform, o.GPU} {
			all[name] = true
		}
	}
	delete(all, "")
	return slices.Sorted(maps.Keys(all))
}

// offers gathers what is known of prices: price lists, the configuration's rates and
// accounts, and what runs. With a price list no configuration is needed.
func (p *program) offers(ctx context.Context, files []string) (known, error) {
	k := known{fx: estimate.FX{}, from: map[string]string{}}
	cfg, err := p.configured()
	switch {
	case err == nil:
		for _, from := range p.offerSources(cfg) {
			offers, err := from(ctx)
			if err != nil {
				return k, err
			}
			k.offers = append(k.offers, offers...)
		}
		if err := k.rates(cfg); err != nil {
			return k, err
		}
	case errors.Is(err, fs.ErrNotExist) && p.file == "" && len(files) > 0:
		if p.render, err = text.New(p.language(""), time.Local); err != nil {
			return k, err
		}
	case errors.Is(err, fs.ErrNotExist) && p.file == "":
		return k, usage(fmt.Errorf("%w; or name a price list with --quotes FILE, which needs no configuration", err))
	default:
		return k, err
	}
	for _, file := range files {
		r, err := readQuotes(file)
		if err != nil {
			return k, err
		}
		k.add(r, file)
	}
	return k, nil
}

// rates adds what the configuration has of offers that no account tells.
func (k *known) rates(cfg *config.Config) error {
	if cfg.Rates.File == "" {
		k.add(cfg.Rates, cfg.File)
		return nil
	}
	r, err := readQuotes(cfg.Rates.File)
	if err != nil {
		return err
	}
	for n := range r.Quotes {
		r.Quotes[n].Kind = estimate.FromRates
	}
	k.add(r, cfg.Rates.File)
	return nil
}

func readQuotes(file string) (config.Rates, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return config.Rates{}, usage(fmt.Errorf("read quotes: %w", err))
	}
	r, err := config.Quotes(file, data)
	if err != nil {
		return r, usage(err)
	}
	return r, nil
}

// offerSource gives the offers of one place where prices are known.
type offerSource func(context.Context) ([]estimate.Offer, error)

// offerSources are the places that tell of the accounts one has.
func (p *program) offerSources(cfg *config.Config) []offerSource {
	return []offerSource{
		func(context.Context) (out []estimate.Offer, _ error) {
			for _, a := range cfg.Accounts {
				out = append(out, estimate.Priced(a.Name, a.Provider, a.Prices)...)
			}
			return out, nil
		},
		p.seenOffers,
	}
}

// seenOffers are what the daemon's running instances cost. Without a daemon nobody
// is asked: an estimate needs no account to be read.
func (p *program) seenOffers(ctx context.Context) ([]estimate.Offer, error) {
	client, err := p.daemon()
	if err != nil {
		return nil, err
	}
	var l ctl.Listing
	if err := p.progress(ctx, wordAsking, func() (err error) {
		l, err = client.List(ctx)
		return err
	}); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p.note(wordEstimateNoDaemon, fleet.Values{"why": fleet.Text(err.Error())})
		return nil, nil
	}
	var instances []fleet.Instance
	for _, i := range l.Items {
		instances = append(instances, i.Instance)
	}
	return estimate.Seen(instances, p.render.In(l.Now)), nil
}
