package fleet

import (
	"strconv"
	"strings"
)

// CanonicalGPU gives the model of a card by one name, whichever platform or tool
// wrote it, and how many GB of memory such a card has: what the name itself says,
// else what every card of that model has, else zero. The same model with another
// memory is another card: 4090-48G is an RTX 4090 with 48 GB, which is no ordinary
// one. A card's form (SXM, PCIe, NVL) stays a part of the model.
//
// A name that is not in the table stays as it is, but for spaces, and has no memory.
func CanonicalGPU(s string) (model string, memoryGB int) {
	c := identify(s)
	return strings.TrimSpace(c.model + " " + c.form), c.memoryGB
}

// card is a model with what a name tells of it.
type card struct {
	model    string
	form     string
	memoryGB int
}

func identify(s string) card {
	s = strings.Join(strings.Fields(s), " ")
	if c, ok := rebranded(squash(s)); ok {
		return c
	}
	key, form, told := gpuWords(s)
	model, memory, ok := standard(key)
	if !ok {
		return card{model: s}
	}
	if told > 0 {
		memory = told
	}
	return card{model: model, form: form, memoryGB: memory}
}

// identify is the card by its model's name. Memory that is told counts where the name
// tells none, or clearly another; tools leave out what error correction takes.
func (g GPU) identify() card {
	c := identify(g.Model)
	if g.MemoryGB > 0 && !nearly(g.MemoryGB, c.memoryGB) {
		c.memoryGB = g.MemoryGB
	}
	return c
}

// Is reports whether the card is of the kind that a name means. A name that tells
// no form means every form of its model, and one that tells no memory every size;
// what the name tells and the card does not is no match. Names that nobody knows
// mean themselves alone.
func (g GPU) Is(name string) bool {
	want, have := identify(name), g.identify()
	switch {
	case squash(want.model) == "" || squash(want.model) != squash(have.model):
		return false
	case want.form != "" && want.form != have.form:
		return false
	}
	return want.memoryGB == 0 || nearly(want.memoryGB, have.memoryGB)
}

// nearly reports whether two sizes differ by no more than a tenth, as those of one
// card do by the way they are told.
func nearly(a, b int) bool { return max(a-b, b-a)*10 <= max(a, b) }

// squash leaves out of a name what people write in one way or another.
func squash(s string) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "_", "", "\t", "").Replace(s))
}

// gpuWords takes a name apart: the model's own letters and digits, the card's form
// and the memory that the name tells.
func gpuWords(s string) (key, formName string, memoryGB int) {
	words := strings.FieldsFunc(strings.ToUpper(s), func(r rune) bool { return r == ' ' || r == '-' || r == '_' })
	for _, w := range words {
		switch w {
		case "NVIDIA", "GEFORCE", "TESLA", "GENERATION", "BLACKWELL", "SERVER", "WORKSTATION", "EDITION", "HBM2", "HBM2E", "HBM3", "HBM3E":
			continue
		}
		if n, ok := gigabytes(w); ok {
			memoryGB = n
		} else if f, ok := form(w); ok {
			formName = f
		} else {
			key += w
		}
	}
	for _, brand := range [...]string{"RTX", "GTX"} {
		key = strings.TrimPrefix(key, brand)
	}
	return key, formName, memoryGB
}

func form(w string) (string, bool) {
	switch w {
	case "SXM", "SXM2", "SXM3", "SXM4", "SXM5", "SXM6":
		return "SXM", true
	case "PCIE":
		return "PCIe", true
	case "NVL":
		return "NVL", true
	}
	return "", false
}

// gigabytes reads 24G, 24GB or 24GIB.
func gigabytes(w string) (int, bool) {
	digits := w
	for _, unit := range [...]string{"GIB", "GB", "G"} {
		if cut, ok := strings.CutSuffix(w, unit); ok {
			digits = cut
			break
		}
	}
	if digits == w || len(digits) > 3 {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 16)
	return int(n), err == nil && n > 0
}

// rebranded are names that hide the card behind them: AutoDL rents cards with
// enlarged memory under names of its own.
func rebranded(squashed string) (card, bool) {
	switch squashed {
	case "VGPU48GB":
		return card{model: "RTX 4090", memoryGB: 48}, true
	case "VGPU32GB":
		return card{model: "RTX 4080 SUPER", memoryGB: 32}, true
	case "VGPU48GB350W":
		return card{model: "RTX 3090", memoryGB: 48}, true
	}
	return card{}, false
}

// standard are the cards that are rented out, by their letters and digits alone,
// with the memory that every one of the model has; zero where there are several.
func standard(key string) (model string, memoryGB int, ok bool) {
	switch key {
	// NVIDIA's data sheets.
	case "5090", "5090D":
		return "RTX " + key, 32, true
	case "4090", "4090D", "3090", "3090TI":
		return "RTX " + strings.Replace(key, "TI", " Ti", 1), 24, true
	case "5080", "4080":
		return "RTX " + key, 16, true
	case "4080S", "4080SUPER":
		return "RTX 4080 SUPER", 16, true
	case "3080TI":
		return "RTX 3080 Ti", 12, true
	case "3080", "3060":
		return "RTX " + key, 0, true
	case "2080TI":
		return "RTX 2080 Ti", 11, true
	case "1080TI":
		return "GTX 1080 Ti", 11, true
	case "TITANXP":
		return "TITAN Xp", 12, true
	case "PRO6000":
		return "RTX PRO 6000", 96, true
	case "6000ADA":
		return "RTX 6000 Ada", 48, true
	case "A6000":
		return "RTX A6000", 48, true
	case "A5000":
		return "RTX A5000", 24, true
	case "A4000":
		return "RTX A4000", 16, true
	case "A40", "L40", "L40S", "L20":
		return key, 48, true
	case "A10", "A10G", "A30", "L4", "P40":
		return key, 24, true
	case "T4":
		return key, 16, true
	case "A100", "A800", "V100", "P100", "H100", "H20", "B200", "910B":
		return strings.Replace(key, "910B", "Ascend 910B", 1), 0, true
	case "ASCEND910B":
		return "Ascend 910B", 0, true
	case "H800":
		return key, 80, true
	case "H200":
		return key, 141, true
	}
	return "", 0, false
}
