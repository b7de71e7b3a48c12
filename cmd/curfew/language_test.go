package main

import (
	"bytes"
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"curfew/internal/config"
)

const languageConfig = `mode: enforce
timezone: Asia/Shanghai
language: zh
state: sqlite:state/curfew.db
accounts: [{name: lab, provider: sim, world: world.yaml}]
signals: [{type: sim}]
protect: {labels: {team: keep}}
policies:
  - {name: done, type: training, match: {name: "exp-*"}, process: "python .*train", warn: 1h, then: stop}
  - {name: rest, type: idle, match: {account: lab}, for: 1h, then: stop}
notify: {channels: [{name: me, type: console}]}
`

const languageWorld = `timing: {stop_time: -1s}
accounts: [{name: lab, identity: u-lab}]
instances:
  - id: sim-busy
    name: exp-busy
    gpu: {model: A100, count: 4}
    box: {processes: [{command: python -u train.py, from: -30m, run: r1, load: 97}]}
  - id: sim-done
    name: exp-done
    gpu: {model: RTX 4090}
    price: 1.98 CNY
    box: {processes: [{command: python -u train.py, from: -30m, to: -20m, exit: 3, run: r2, load: 97}]}
  - id: sim-keep
    name: exp-keep
    labels: {team: keep}
    box: {processes: [{command: python -u train.py, from: -30m, to: -20m, run: r3, load: 97}]}
  - {id: sim-other, name: other}
`

// sameInAll are the words of a Chinese answer that are the same in every language, beside
// what the configuration calls things and its keys with their values.
var sameInAll = regexp.MustCompile(strings.Join([]string{
	`sim:u-lab/\S*`, `sqlite:\S+`, `\S+\.(yaml|md|db|py)\b`, // references, files
	`sim-\w+`, `exp-[\w*]+`, `\bcurfew( [a-z]+( REF)?)?`, ` --[a-z]+`, // commands
	`\b(GPU|CPU|CNY|RTX|A100|AutoDL|Pro|API|pid|token)\b`, `\b(autodl|machines)\b`,
	`\br[123]\b`, `\b(lab|me|li|done|rest|sim|other|nobody|team|keep|training|idle)\b`,
}, "|"))

// speak runs one command and gives all it says.
func speak(t *testing.T, answers string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	run(t.Context(), system{
		args: args, stdin: strings.NewReader(answers), stdout: &out, stderr: &out,
		lookupEnv: func(name string) (string, bool) {
			v, ok := map[string]string{"HOME": t.TempDir(), "LANG": "zh_CN.UTF-8", "TZ": "Asia/Shanghai"}[name]
			return v, ok
		},
		now: time.Now, user: func() string { return "li" }, size: func() (int, int) { return 0, 0 },
	})
	return out.String()
}

// settings are the keys and values of every policy, as the file has them.
func settings(t *testing.T) []string {
	t.Helper()
	cfg, err := config.Load("curfew.yaml", "", registry())
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, p := range cfg.Policies {
		for _, e := range p.Explain {
			words = append(words, e.Key, e.Value)
		}
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the longest first
	return slices.Compact(words)
}

func TestChineseAnswersHoldNoEnglish(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, content := range map[string]string{"curfew.yaml": languageConfig, "world.yaml": languageWorld} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	known := settings(t)
	word := regexp.MustCompile(`[A-Za-z][A-Za-z-]+`)
	for _, c := range []struct{ command, has string }{
		{"plan", "将预告关机"},
		{"explain exp-done", "要求关机"},
		{"explain exp-busy", "忙碌"},
		{"explain exp-keep", "受保护"},
		{"explain other", "观察"},
		{"apply --now --yes", "完成"},
		{"journal", "完成"},
		{"journal 1", "步骤"},
		{"plan", "待操作"},
		{"explain exp-done", "历史"},
		{"check", "没有问题"},
		{"check --online", "通过"},
		{"init --yes --config new.yaml", "这个问题必须回答"},
		{"explain nobody", "没有实例或资源"},
		{"explain", "缺少参数"},
		{"journal 99", "没有编号"},
		{"plan --config none.yaml", "没有找到配置"},
	} {
		said := speak(t, "", strings.Fields(c.command)...)
		if !strings.Contains(said, c.has) {
			t.Errorf("curfew %s does not say %q:\n%s", c.command, c.has, said)
		}
		for line := range strings.SplitSeq(said, "\n") {
			rest := line
			if strings.Contains(line, "（默认）") || strings.Contains(line, "（策略）") || strings.Contains(line, "（配置文件）") {
				for _, w := range known {
					rest = strings.ReplaceAll(rest, w, "")
				}
			}
			if left := word.FindAllString(sameInAll.ReplaceAllString(rest, ""), -1); len(left) > 0 {
				t.Errorf("curfew %s says %q in %q", c.command, left, line)
			}
		}
	}
}
