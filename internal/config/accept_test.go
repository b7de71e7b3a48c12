package config

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"curfew/internal/accept"
)

const accounts = "accounts: [{name: a, provider: sim}]\n"

func TestWhatAMachineMustComeUpTo(t *testing.T) {
	data, err := os.ReadFile("testdata/ok/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse("everything.yaml", data, registry())
	if err != nil {
		t.Fatal(err)
	}
	want := accept.Thresholds{
		CUDA: accept.Version{Major: 12, Minor: 10}, AllReduceFail: 2e9, AllReduceWarn: 10e9, Shm: 8e9, Disk: 1.5e9,
		URL: "https://mirror.lab.example/1g.bin", Path: "/root/autodl-tmp", Cores: 16, Memory: 64e9, Spread: 20,
		Require: []accept.Check{accept.CheckCards, accept.CheckFramework}, Off: []accept.Check{accept.CheckLinks}, Timeout: 5 * time.Minute,
	}
	if diff := cmp.Diff(want, c.Accept.Thresholds); diff != "" {
		t.Errorf("thresholds (-want +got):\n%s", diff)
	}
	b := c.Accept.Bootstrap
	if !strings.HasPrefix(b.Run, "#!/bin/bash -e\npip") || b.Secrets["HF_TOKEN"].Place() != "env HF_TOKEN" || b.Timeout != 20*time.Minute || b.File != "" {
		t.Errorf("bootstrap %+v", b)
	}
}

func TestWithoutAWordTheDefaultsHold(t *testing.T) {
	for _, yaml := range []string{accounts, accounts + "accept: {cpu: off}\n"} {
		c, err := Parse("x.yaml", []byte(yaml), registry())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(accept.Defaults(), c.Accept.Thresholds); diff != "" {
			t.Errorf("thresholds (-want +got):\n%s", diff)
		}
		if b := c.Accept.Bootstrap; b.Run != "" || b.File != "" || b.Timeout != 30*time.Minute {
			t.Errorf("bootstrap %+v", b)
		}
	}
}

func TestAScriptInAFileIsBesideTheConfiguration(t *testing.T) {
	c, err := Parse("/etc/curfew/x.yaml", []byte(accounts+"accept: {bootstrap: {file: setup.sh}}\n"), registry())
	if err != nil || c.Accept.Bootstrap.File != "/etc/curfew/setup.sh" {
		t.Errorf("%+v, %v", c, err)
	}
}
