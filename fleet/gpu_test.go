package fleet_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"curfew/fleet"
)

func TestOneCardHasOneNameEverywhere(t *testing.T) {
	for _, c := range []struct {
		name   string
		model  string
		memory int
	}{
		// AutoDL: market page, manual's appendix, stock.
		{"RTX 4090", "RTX 4090", 24},
		{"RTX 4090D", "RTX 4090D", 24},
		{"4090D", "RTX 4090D", 24},
		{"RTX 5090", "RTX 5090", 32},
		{"5090-32G", "RTX 5090", 32},
		{"RTX PRO 6000", "RTX PRO 6000", 96},
		{"PRO6000-96G", "RTX PRO 6000", 96},
		{"PRO6000", "RTX PRO 6000", 96},
		{"H800", "H800", 80},
		{"H800-80G", "H800", 80},
		{"H20", "H20", 0},
		{"A800", "A800", 0},
		{"3090", "RTX 3090", 24},
		{"vGPU-48GB", "RTX 4090", 48},
		{"4090-48G", "RTX 4090", 48},
		{"vGPU-32GB", "RTX 4080 SUPER", 32},
		{"4080S-32G", "RTX 4080 SUPER", 32},
		{"vGPU-48GB-350W", "RTX 3090", 48},
		{"3090-48G", "RTX 3090", 48},
		// As people and price lists write them.
		{"4090", "RTX 4090", 24},
		{"4090-24G", "RTX 4090", 24},
		{"RTX4090", "RTX 4090", 24},
		{"rtx_4090", "RTX 4090", 24},
		{"  RTX   4090 ", "RTX 4090", 24},
		{"GTX 1080 Ti", "GTX 1080 Ti", 11},
		{"2080Ti", "RTX 2080 Ti", 11},
		{"2080Ti-22G", "RTX 2080 Ti", 22},
		{"A100-40G", "A100", 40},
		{"A100 80GB", "A100", 80},
		{"Titan Xp", "TITAN Xp", 12},
		// As nvidia-smi does.
		{"NVIDIA GeForce RTX 4090", "RTX 4090", 24},
		{"NVIDIA GeForce RTX 4090 D", "RTX 4090D", 24},
		{"NVIDIA GeForce RTX 3080 Ti", "RTX 3080 Ti", 12},
		{"NVIDIA A100-SXM4-80GB", "A100 SXM", 80},
		{"NVIDIA A100 80GB PCIe", "A100 PCIe", 80},
		{"NVIDIA H100 80GB HBM3", "H100", 80},
		{"NVIDIA H100 NVL", "H100 NVL", 0},
		{"Tesla V100-SXM2-32GB", "V100 SXM", 32},
		{"Tesla T4", "T4", 16},
		{"NVIDIA A10", "A10", 24},
		{"NVIDIA L40S", "L40S", 48},
		{"NVIDIA RTX A6000", "RTX A6000", 48},
		{"NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada", 48},
		{"NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000", 96},
		// Nobody's card, and several, stay what they are.
		{"BR100-32GB", "BR100-32GB", 0},
		{"Quadro RTX 6000", "Quadro RTX 6000", 0},
		{"A100 MIG 1g.10gb", "A100 MIG 1g.10gb", 0},
		{"8x A100", "8x A100", 0},
		{"A100X", "A100X", 0},
		{"T4G", "T4G", 0},
		{"vGPU-24GB", "vGPU-24GB", 0},
		{"24G", "24G", 0},
		{"", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if model, memory := fleet.CanonicalGPU(c.name); model != c.model || memory != c.memory {
				t.Errorf("it is %q with %d GB, want %q with %d", model, memory, c.model, c.memory)
			}
		})
	}
}

func TestWhichCardANameMeans(t *testing.T) {
	card := func(model string, memory int) fleet.GPU { return fleet.GPU{Model: model, Count: 1, MemoryGB: memory} }
	for _, c := range []struct {
		name string
		gpu  fleet.GPU
		want bool
	}{
		{"RTX 4090", card("NVIDIA GeForce RTX 4090", 0), true},
		{"RTX 4090", card("4090", 23), true}, // a tool that leaves something out
		{"RTX 4090", card("RTX 4090D", 24), false},
		{"RTX 4090D", card("RTX 4090", 24), false},
		{"RTX 4090", card("vGPU-48GB", 48), false},
		{"RTX 4090", card("RTX 4090", 48), false}, // by what is told, whatever the name
		{"4090-48G", card("vGPU-48GB", 48), true},
		{"4090-48G", card("RTX 4090", 48), true},
		{"vGPU-48GB", card("vGPU-48GB-350W", 48), false},
		{"RTX 4080 SUPER", card("vGPU-32GB", 32), false},
		{"A100", card("NVIDIA A100-SXM4-80GB", 0), true},
		{"A100", card("A100", 40), true},
		{"A100", card("A100X", 80), false},
		{"A100", card("A800", 80), false},
		{"A100 SXM4", card("A100 PCIE", 80), false},
		{"A100 SXM4", card("A100", 80), false}, // its form is not told
		{"A100 80GB", card("A100", 80), true},
		{"A100 80GB", card("A100", 79), true},
		{"A100 80GB", card("A100", 40), false},
		{"A100 80GB", card("A100", 0), false}, // its memory is not told
		{"L40S", card("L40S", 45), true},
		{"H100", card("H100 NVL", 94), true},
		{"br100 32gb", card("BR100-32GB", 32), true},
		{"BR100", card("BR100 PCIe", 32), false},
		{"", card("", 0), false},
		{" ", card("RTX 4090", 24), false},
	} {
		if got := c.gpu.Is(c.name); got != c.want {
			t.Errorf("%+v is %q: %t, want %t", c.gpu, c.name, got, c.want)
		}
	}
}

func TestNamesOfCardsArePure(t *testing.T) {
	words := rapid.SampledFrom([]string{"NVIDIA", "GeForce", "RTX", "4090", "4090D", "D", "A100", "SXM4", "PCIe", "80GB", "24G", "vGPU", "48GB", "350W", "H20", "BR100", "L40S"})
	rapid.Check(t, func(t *rapid.T) {
		sep := rapid.SampledFrom([]string{" ", "-", "_", "  "}).Draw(t, "separator")
		name := strings.Join(rapid.SliceOfN(words, 0, 5).Draw(t, "words"), sep)
		model, memory := fleet.CanonicalGPU(name)
		if memory < 0 {
			t.Errorf("%q has %d GB", name, memory)
		}
		// The canonical name is its own.
		if again, _ := fleet.CanonicalGPU(model); again != model {
			t.Errorf("%q is %q, which is %q", name, model, again)
		}
		for _, alike := range []string{strings.ToLower(name), strings.ToUpper(name), " " + name + " "} {
			if m, g := fleet.CanonicalGPU(alike); !strings.EqualFold(m, model) || g != memory {
				t.Errorf("%q is %q with %d GB, and %q is %q with %d", name, model, memory, alike, m, g)
			}
		}
		if strings.TrimSpace(name) != "" && !(fleet.GPU{Model: name, Count: 1}).Is(name) {
			t.Errorf("%q is not itself", name)
		}
	})
}
