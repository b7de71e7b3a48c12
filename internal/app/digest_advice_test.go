package app

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/advice"
	"curfew/internal/text"
	"curfew/notify"
	"curfew/providers/sim"
)

func advised(d digestThing, a advice.Advice) digestAdvised { return digestAdvised{d, a} }

func TestADigestSaysWhichRunsCouldDoBetter(t *testing.T) {
	cny := priced(fleet.CNY(1_980_000))
	since := fleet.Moment(nine.Add(-3 * time.Hour))
	named := fleet.Run{ID: "f:exp 7", Source: "file"}
	waits := advice.Advice{
		Code: advice.CodeUnderused, Run: named, Wasted: 0.58,
		Values: fleet.Values{"mean": fleet.Number(42), "since": since, "help": fleet.Nested(fleet.Because(advice.HelpCPU, fleet.Values{"cores": fleet.Number(15.8), "total": fleet.Number(16)}))},
	}
	swings, unclear := waits, waits
	swings.Run = fleet.Run{ID: "p:done:1", Source: "process", Policy: "done"}
	swings.Values = fleet.Values{"mean": fleet.Number(42), "since": since, "help": fleet.Nested(fleet.Because(advice.HelpSwing, nil))}
	unclear.Values = fleet.Values{"mean": fleet.Number(42), "since": since, "help": fleet.Nested(fleet.Because(advice.HelpAny, nil))}
	view := digestView{several: true, advised: []digestAdvised{
		advised(up("a", cny), waits), advised(up("b", cny), swings), advised(up("c", fleet.Price{}), unclear),
		advised(up("d", cny), advice.Advice{Code: advice.CodeCards, Run: named, Wasted: 0.5, Values: fleet.Values{"unused": fleet.Number(2), "count": fleet.Number(4), "since": since}}),
		advised(up("e", cny), advice.Advice{Code: advice.CodeNoGPU, Run: named, Wasted: 1, Values: fleet.Values{"cores": fleet.Number(3.2), "since": since}}),
		advised(up("f", cny), advice.Advice{Code: advice.CodeStalled, Run: named, Values: fleet.Values{"file": fleet.Text("/root/train.log"), "since": since}}),
	}}
	for lang, want := range map[text.Language]string{
		text.English: `
Could be put to better use
· a (lab), run exp 7: GPU at 42% on average since 06:00: the CPU is full (15.8 of 16 cores); more data-loader workers or more CPU cores may help; about 1.15 CNY/h unused (estimate)
· b (lab), run done: GPU at 42% on average since 06:00: it goes up and down, as of a shared or throttled card; about 1.15 CNY/h unused (estimate)
· c (lab), run exp 7: GPU at 42% on average since 06:00: larger batches, faster loading of data or a smaller card may help
· d (lab), run exp 7: 2 of 4 cards never used since 06:00; fewer cards may do; about 0.99 CNY/h unused (estimate)
· e (lab), run exp 7: only the CPU works since 06:00 (3.2 cores), and no card; boot without GPU meanwhile; about 1.98 CNY/h unused (estimate)
· f (lab), run exp 7: at work, but /root/train.log has not grown since 06:00; see whether it hangs
`,
		text.Chinese: `
可以用得更好
· a（lab），任务 exp 7：自 06:00 起 GPU 平均利用率 42%：CPU 已满（16 核用了 15.8 核），可增加 data-loader worker 或 CPU 核数；估计每小时浪费约 1.15 CNY
· b（lab），任务 done：自 06:00 起 GPU 平均利用率 42%：忽高忽低，像是共享或被限速的卡；估计每小时浪费约 1.15 CNY
· c（lab），任务 exp 7：自 06:00 起 GPU 平均利用率 42%：可试试加大 batch、加快数据加载或换小一些的卡
· d（lab），任务 exp 7：自 06:00 起 4 张卡中有 2 张从未使用，可少租几张；估计每小时浪费约 0.99 CNY
· e（lab），任务 exp 7：自 06:00 起只有 CPU 在工作（3.2 核），GPU 空闲，可先以无卡模式开机；估计每小时浪费约 1.98 CNY
· f（lab），任务 exp 7：在运行，但 /root/train.log 自 06:00 起没有变化，请看看是否卡住
`,
	} {
		r, err := text.New(lang, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if got := notify.Render(digestOf(view), r, nine).Plain; !strings.HasSuffix(got+"\n", want) {
			t.Errorf("%s: told\n%s\nwant\n%s", lang, got, want)
		}
	}
}

// slackRun is an instance whose run leaves its card waiting, and whose log stops growing
// after a quarter of an hour.
func slackRun(id string) sim.Spec {
	s := trained(id, 12*time.Hour, 0)
	s.Box.Processes[0].Load = 40
	for m := range 15 {
		s.Box.Logs = append(s.Box.Logs, sim.LogLine{Path: "/root/train.log", At: time.Duration(m) * time.Minute, Line: "step"})
	}
	return s
}

// remembered is of how many instances looks are remembered for advice.
func (l *lab) remembered() int {
	l.app.mu.Lock()
	defer l.app.mu.Unlock()
	return len(l.app.seen.advice)
}

const logged = "    log: /root/train.log\n"

func TestTheDigestTellsFromLooksWhatARunCouldDoBetter(t *testing.T) {
	for lang, want := range map[text.Language][]string{
		text.English: {
			"Could be put to better use",
			"exp-a, run r-a: GPU at 40% on average since 08:00: larger batches, faster loading of data or a smaller card may help; about 1.19 CNY/h unused (estimate)",
			"exp-a, run r-a: at work, but /root/train.log has not grown since 08:14; see whether it hangs",
		},
		text.Chinese: {
			"可以用得更好",
			"exp-a，任务 r-a：自 08:00 起 GPU 平均利用率 40%：可试试加大 batch、加快数据加载或换小一些的卡；估计每小时浪费约 1.19 CNY",
			"exp-a，任务 r-a：在运行，但 /root/train.log 自 08:14 起没有变化，请看看是否卡住",
		},
	} {
		inLab(t, func(t *testing.T) {
			l := newDigestLab(t)
			l.yaml = "language: " + string(lang) + "\n" + l.yaml + logged
			l.cloud.MustAdd(slackRun("a"))
			busy := trained("b", 12*time.Hour, 0)
			l.cloud.MustAdd(busy)
			dark := slackRun("c")
			dark.Box.Dark = []sim.Stretch{{From: 50 * time.Minute, To: 53 * time.Minute}}
			l.cloud.MustAdd(dark)
			na := slackRun("d")
			na.Box.Logs, na.Box.GPU = nil, []sim.GPULevel{{Util: "N/A"}}
			l.cloud.MustAdd(na)
			l.cloud.MustAdd(notebook("e"))
			l.restart()
			l.run(61 * time.Minute)
			told := l.out.String()
			for _, w := range want {
				if n := strings.Count(told, w); n != 1 {
					t.Errorf("%q is told %d times:\n%s", w, n, told)
				}
			}
			for _, other := range []string{"exp-b", "exp-c", "exp-d", "exp-e"} {
				if strings.Contains(told, other+", run") || strings.Contains(told, other+"，任务") {
					t.Errorf("something is told of %s:\n%s", other, told)
				}
			}
			if n := l.remembered(); n != 5 {
				t.Errorf("%d instances are remembered, want 5", n)
			}
			if err := l.cloud.UserStops("a"); err != nil {
				t.Fatal(err)
			}
			l.run(5 * time.Minute)
			if n := l.remembered(); n != 4 {
				t.Errorf("after one was stopped %d instances are remembered, want 4", n)
			}
			l.wantOutcomes()
		})
	}
}

// notebook is an instance at which somebody types and no run is on.
func notebook(id string) sim.Spec {
	s := working(id)
	s.Name = "exp-" + id
	s.Box = sim.Box{Sessions: []sim.Session{{Name: "pts/0", Inputs: []time.Duration{50 * time.Minute}}}}
	return s
}

func TestNoAdviceIsToldWhereItIsOff(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.yaml += logged + "advice: off\n"
		l.cloud.MustAdd(slackRun("a"))
		l.restart()
		l.run(61 * time.Minute)
		if digest := l.wantDigests(1); strings.Contains(digest, "better use") || !strings.Contains(digest, "running") {
			t.Errorf("told:\n%s", digest)
		}
		if n := l.remembered(); n != 0 {
			t.Errorf("%d instances are remembered for nothing", n)
		}
	})
}

func TestNothingIsRememberedForADigestThatNobodyGets(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newLab(t, "stop", logged)
		l.cloud.MustAdd(slackRun("a"))
		l.restart()
		l.run(30 * time.Minute)
		if n := l.remembered(); n != 0 {
			t.Errorf("%d instances are remembered for nothing", n)
		}
	})
}

func TestAdviceKnowsOfPlatformRunsAndFiles(t *testing.T) {
	inLab(t, func(t *testing.T) {
		l := newDigestLab(t)
		l.yaml += logged + "    success: {file: /root/out/DONE}\n"
		ref := l.cloud.MustAdd(slackRun("a"))
		l.cloud.MustAdd(unmatched("x"))
		l.restart()
		l.run(2 * time.Minute)
		rt := l.app.runtime()
		for _, able := range []bool{false, true} {
			acc := rt.accounts[0]
			acc.mu.Lock()
			acc.open.Kind.StartsWithoutGPU = able
			acc.mu.Unlock()
			for i := range l.app.inv.Snapshot().Up() {
				l.app.mu.Lock()
				s := l.app.advisable(rt, *i)
				l.app.mu.Unlock()
				if s.StartsWithoutGPU != able {
					t.Errorf("%s starts without GPU %v, want %v", i.Ref.ID, s.StartsWithoutGPU, able)
				}
				if i.Ref.ID != ref.ID {
					if len(s.Watched) > 0 {
						t.Errorf("nothing is watched at %s, and there is %v", i.Ref.ID, s.Watched)
					}
					continue
				}
				want := []advice.Watched{{Policy: "done", Logs: []string{"/root/train.log"}, Files: []string{"/root/out/DONE"}}}
				if diff := cmp.Diff(want, s.Watched); diff != "" || len(s.Runs) == 0 {
					t.Errorf("%d runs; watched (-want +got):\n%s", len(s.Runs), diff)
				}
			}
		}
	})
}
