package setup_test

import (
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"curfew/fleet"
	"curfew/internal/setup"
)

// box makes a machine of files by their content; a path that ends in / is a
// folder.
func box(files, env map[string]string) setup.Machine {
	root := fstest.MapFS{}
	for path, content := range files {
		if path[len(path)-1] == '/' {
			root[path[:len(path)-1]] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
		} else {
			root[path] = &fstest.MapFile{Data: []byte(content)}
		}
	}
	return setup.Machine{Root: root, Env: func(name string) (string, bool) {
		v, ok := env[name]
		return v, ok
	}}
}

func TestMachinesAreKnownByTheirMarks(t *testing.T) {
	host := func(name string) map[string]string { return map[string]string{"proc/sys/kernel/hostname": name + "\n"} }
	for name, c := range map[string]struct {
		machine setup.Machine
		want    string // platform; "": none
		sure    bool
	}{
		"AutoDL by variable and host name": {
			box(host("autodl-container-f77d11adac-015069fd"), map[string]string{"AutoDLRegion": "west-E"}), "autodl", true,
		},
		"AutoDL by host name and folder, in a login without its variables": {
			box(map[string]string{"etc/hostname": "autodl-container-f77d11adac-015069fd", "root/autodl-tmp/": ""}, nil), "autodl", true,
		},
		"AutoDL by a folder and what process 1 was given": {
			box(map[string]string{"root/autodl-tmp/": "", "proc/1/environ": "PATH=/bin\x00AutoDLContainerUUID=f77d11adac-015069fd\x00"}, nil), "autodl", true,
		},
		"one mark is a question": {
			box(map[string]string{"root/autodl-tmp/": ""}, nil), "autodl", false,
		},
		"two marks of one kind may come from one image": {
			box(map[string]string{"root/autodl-tmp/": "", "init/boot/boot.sh": "#!/bin/bash"}, nil), "autodl", false,
		},
		"two variables may come from one profile": {
			box(nil, map[string]string{"AutoDLRegion": "west-E", "AutoDLContainerUUID": "f77d11adac-015069fd"}), "autodl", false,
		},
		"a variable that is empty is no mark": {
			box(nil, map[string]string{"AutoDLRegion": ""}), "", false,
		},
		"a container of an elastic deployment is no instance": {
			box(host("autodl-container-f77d11adac-015069fd"), map[string]string{"AutoDLContainerUUID": "u", "AutoDLDeploymentUUID": "d"}),
			"autodl-deployment", true,
		},
		"恒源云 by its disk": {
			box(map[string]string{"hy-tmp/": "", "hy-public/": ""}, nil), "gpushare", false,
		},
		"矩池云 by its token and program": {
			box(map[string]string{"public/script/matncli": "", "proc/1/environ": "MATCLOUD_CANCELTOKEN=t\x00"}, nil), "matpool", true,
		},
		"Featurize by its home": {
			box(map[string]string{"home/featurize/": ""}, nil), "featurize", false,
		},
		"揽睿星舟 by its data disk": {
			box(map[string]string{"home/user/datadisk/": ""}, nil), "lanrui", false,
		},
		"a machine of one's own": {
			box(host("lab-4"), map[string]string{"HOME": "/root"}), "", false,
		},
		"nothing at all": {box(nil, nil), "", false},
	} {
		t.Run(name, func(t *testing.T) {
			sight, known := setup.Recognise(c.machine)
			if sight.Platform.Name != c.want || sight.Sure != c.sure || known != (c.want != "") {
				t.Errorf("it is taken for %q (sure: %t, known: %t) by %v, want %q (sure: %t)",
					sight.Platform.Name, sight.Sure, known, sight.Marks, c.want, c.sure)
			}
		})
	}
}

// What is written about a platform is written into people's configurations: a
// stop that loses data, or of which that is not known, is never passed for one
// that keeps it, and no command that gives a machine back is a stop.
func TestPlatformsClaimNoMoreThanIsKnown(t *testing.T) {
	for _, p := range setup.Platforms() {
		if p.Name == "" || p.Title == "" || p.Note == "" || len(p.Marks) == 0 {
			t.Errorf("platform %q lacks a name, a title, a note or marks", p.Name)
		}
		if p.Name == "autodl" {
			continue
		}
		if p.OnStop.KeepsData == fleet.KeepsAll || p.OnStop.EndsBilling == fleet.Yes {
			t.Errorf("%s: a stop is said to keep everything or to end the bill, which nobody has established", p.Name)
		}
		if p.Stop != "" && p.GivesBack != "" {
			t.Errorf("%s has both a stop and a way to give the machine back; which is it?", p.Name)
		}
	}
}

func TestMachineNames(t *testing.T) {
	for name, c := range map[string]struct {
		machine        setup.Machine
		platform, want string
	}{
		"by the container's id": {
			box(map[string]string{"etc/hostname": "other"}, map[string]string{"AutoDLContainerUUID": "f77d11adac-015069fd"}), "autodl", "autodl-f77d11adac-015069fd",
		},
		"by the id in the host name": {
			box(map[string]string{"etc/hostname": "autodl-container-f77d11adac-015069fd\n"}, nil), "autodl", "autodl-f77d11adac-015069fd",
		},
		"by the host name":              {box(map[string]string{"etc/hostname": "I15163"}, nil), "gpushare", "gpushare-I15163"},
		"of no platform":                {box(map[string]string{"etc/hostname": "lab-4"}, nil), "", "lab-4"},
		"with what no name may hold":    {box(map[string]string{"etc/hostname": "-my lab/4号-"}, nil), "", "my-lab-4"},
		"of a machine without a name":   {box(nil, nil), "", "box"},
		"of a nameless one at AutoDL":   {box(nil, nil), "autodl", "autodl-box"},
		"the kernel's name comes first": {box(map[string]string{"etc/hostname": "old", "proc/sys/kernel/hostname": "new"}, nil), "", "new"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := setup.MachineName(c.machine, c.platform); got != c.want {
				t.Errorf("it is called %q, want %q", got, c.want)
			}
		})
	}
}

func TestZones(t *testing.T) {
	link := func(to string) setup.Machine {
		return setup.Machine{
			Root: fstest.MapFS{"etc/localtime": {Data: []byte(to), Mode: fs.ModeSymlink}},
			Env:  func(string) (string, bool) { return "", false },
		}
	}
	for name, c := range map[string]struct {
		machine setup.Machine
		want    string
	}{
		"by TZ":                         {box(map[string]string{"etc/timezone": "Europe/Berlin"}, map[string]string{"TZ": ":Asia/Shanghai"}), "Asia/Shanghai"},
		"by the link":                   {link("/usr/share/zoneinfo/Asia/Shanghai"), "Asia/Shanghai"},
		"by a relative link":            {link("../usr/share/zoneinfo/Etc/UTC"), "Etc/UTC"},
		"by the file":                   {box(map[string]string{"etc/timezone": "Asia/Tokyo\n"}, nil), "Asia/Tokyo"},
		"what is no zone is passed by":  {box(map[string]string{"etc/timezone": "Asia/Tokyo\n"}, map[string]string{"TZ": "Mars/Olympus"}), "Asia/Tokyo"},
		"a path is no name of a zone":   {box(nil, map[string]string{"TZ": "/etc/localtime"}), ""},
		"a machine that does not tell":  {box(map[string]string{"etc/localtime": "TZif2"}, nil), ""},
		"Local is what nobody can read": {box(nil, map[string]string{"TZ": "Local"}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.machine.Zone(); got != c.want {
				t.Errorf("the zone is %q, want %q", got, c.want)
			}
		})
	}
}

func TestCards(t *testing.T) {
	type cards struct {
		Model string
		Count int
	}
	for out, want := range map[string]cards{
		"":                          {},
		"\n":                        {},
		"NVIDIA GeForce RTX 4090\n": {"RTX 4090", 1},
		"NVIDIA A100\nNVIDIA A100\nNVIDIA A100\n": {"A100", 3},
		"NVIDIA A100\nNVIDIA L4\n":                {"A100, L4", 2},
	} {
		model, count := setup.Cards(out)
		if diff := cmp.Diff(want, cards{model, count}); diff != "" {
			t.Errorf("cards of %q (-want +got):\n%s", out, diff)
		}
	}
}
