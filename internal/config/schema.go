package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Schema gives a JSON Schema (draft 2020-12) of the configuration, for editors. It
// is made from the reading itself: a key that the reader learns is in it. It says
// what stands in a file, not what goes together: a file it finds nothing wrong
// with may still be refused.
func Schema(reg Registry) ([]byte, error) {
	root := survey(reg)
	s := &schema{texts: describe(), times: map[string]int{}, names: map[string]string{}, count: true}
	s.block("", root)
	s.count, s.defs = false, nil
	doc := s.block("", root)
	defs := rules{}
	for name, def := range s.defs {
		defs[name] = def
	}
	doc["$defs"] = defs
	doc["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	doc["title"] = "The configuration of curfew"
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(doc)
	return out.Bytes(), err
}

// rules are a schema, or a part of one.
type rules map[string]any

// schema is the writing of one schema.
type schema struct {
	texts map[string]string
	defs  map[string]rules
	plain bool              // gives no block a name
	count bool              // only counts
	times map[string]int    // how often a block is there, by what it says
	names map[string]string // of blocks that are there more than once
}

// value gives the schema of what stands at a key, or nil where nothing may. path
// leads to it without numbers and types: policies.match.name.
func (s *schema) value(path, key string, a *asked) rules {
	var ways []rules
	for _, f := range a.forms {
		ways = append(ways, s.single(f, a.usual()))
	}
	if a.isBlock {
		ways = append(ways, s.named(path, key, a))
	}
	if a.isList {
		ways = append(ways, s.list(path, a))
	}
	ways = slices.DeleteFunc(ways, func(r rules) bool { return r == nil })
	var out rules
	switch len(ways) {
	case 0:
		return nil
	case 1:
		out = maps.Clone(ways[0])
	default:
		out = rules{"anyOf": ways}
	}
	if text := described(s.texts, path); text != "" {
		out["description"] = text
	}
	return out
}

// named gives a block, by a name among the definitions if it is there more than
// once.
func (s *schema) named(path, key string, a *asked) rules {
	if s.plain {
		return s.block(path, a)
	}
	plain := schema{texts: s.texts, plain: true}
	text, err := json.Marshal(plain.block(path, a))
	says := string(text)
	if s.count {
		s.times[says]++
	}
	r := s.block(path, a)
	if err != nil || s.count || s.times[says] < 2 {
		return r
	}
	name := s.names[says]
	if key == "" { // of a list: by what the list is called
		key = path[strings.LastIndexByte(path, '.')+1:]
	}
	for n := 1; name == ""; n++ {
		try := key
		if n > 1 {
			try += strconv.Itoa(n)
		}
		if s.defs[try] == nil {
			name = try
		}
	}
	s.names[says] = name
	s.define(name, r)
	return rules{"$ref": "#/$defs/" + name}
}

func (s *schema) define(name string, r rules) {
	if s.defs == nil {
		s.defs = map[string]rules{}
	}
	s.defs[name] = r
}

func (s *schema) block(path string, a *asked) rules {
	properties, required := rules{}, []string{}
	for _, key := range slices.Sorted(maps.Keys(a.keys)) {
		k := a.keys[key]
		v := s.value(strings.TrimPrefix(path+"."+key, "."), key, k.value)
		if v == nil {
			continue
		}
		properties[key] = v
		if k.needed > 0 && k.needed == a.blocks {
			required = append(required, key)
			delete(v, "default") // is only for messages
		}
	}
	out := rules{"type": "object", "additionalProperties": false}
	if len(properties) > 0 {
		out["properties"] = properties
	}
	if len(required) > 0 {
		out["required"] = required
	}
	if a.any != nil {
		if v := s.value(path+".*", "", a.any); v != nil {
			out["additionalProperties"] = v
		}
	}
	if len(a.oneOf) > 0 {
		var any []rules
		for _, key := range a.oneOf {
			any = append(any, rules{"required": []string{key}})
		}
		out["anyOf"] = any
	}
	return out
}

func (s *schema) list(path string, a *asked) rules {
	out := rules{"type": "array"}
	if a.full {
		out["minItems"] = 1
	}
	if len(a.items) == 0 {
		return out
	}
	key, words := a.items[0].choice()
	if key == "" {
		if v := s.value(path, "", a.items[0]); v != nil {
			delete(v, "description") // the list's own
			out["items"] = v
		}
		return out
	}
	var cases []rules
	for n, word := range words {
		is := rules{key: rules{"const": word}}
		then := s.block(path, a.item(n))
		delete(then, "type")
		cases = append(cases, rules{"if": rules{"properties": is, "required": []string{key}}, "then": then})
	}
	out["items"] = rules{
		"type":       "object",
		"required":   []string{key},
		"properties": rules{key: s.value(path+"."+key, key, a.items[0].keys[key].value)},
		"allOf":      cases,
	}
	return out
}

// single gives the schema of a single value, which is as usual where nothing is
// written.
func (s *schema) single(f form, usual string) rules {
	r := s.written(f)
	if f.off {
		r = rules{"anyOf": []rules{r, {"const": "off"}}}
	}
	if def := f.value(usual); def != nil {
		r["default"] = def
	}
	return r
}

// written gives the schema of a single value, but for off.
func (s *schema) written(f form) rules {
	text := func(name, pattern, example string) rules {
		s.define(name, rules{"type": "string", "pattern": pattern, "examples": []string{example}})
		return rules{"$ref": "#/$defs/" + name}
	}
	switch f.kind {
	case kindAny:
		return rules{"type": []string{"string", "number", "boolean"}}
	case kindWord, kindChoice:
		return rules{"enum": f.known()}
	case kindFlag:
		return rules{"type": "boolean"}
	case kindWhole:
		return rules{"type": "integer", "minimum": f.least}
	case kindFigure:
		return rules{"type": "number", "exclusiveMinimum": 0}
	case kindNumber:
		return rules{"type": "number", "minimum": 0}
	case kindPercent:
		return text("percent", `^([0-9]+(\.[0-9]*)?|\.[0-9]+)%$`, "50%")
	case kindShare:
		return text("share", `^(100|[1-9]?[0-9])(\.0*)?%$`, "50%")
	case kindSpan:
		return s.span()
	case kindMoney:
		return text("money", `^([0-9]+(\.[0-9]{0,6})?|\.[0-9]{1,6}) +[A-Z]{3}$`, "1.98 CNY")
	case kindDate:
		return text("date", `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`, "2026-10-01")
	case kindInside:
		return text("path-in-instance", `^/[^\r\n]*$`, "/root/out/DONE")
	case kindURL:
		return text("address", `^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\s][^?#\s]*$`, "https://curfew.lab.example")
	case kindName:
		return text("name", `^[^/ \t\r\n]+$`, "night")
	case kindListen:
		return text("listen", `^[^/\s]*:[0-9]{1,5}$`, "0.0.0.0:8421")
	case kindSize:
		return text("size", `^ *([0-9]+(\.[0-9]*)?|\.[0-9]+) *[MGT]B$`, "50GB")
	case kindSpeed:
		return text("speed", `^ *[0-9]+(\.[0-9]+)? ?[MGT]B/s *$`, "500MB/s")
	case kindProxy:
		return text("proxy", `^(direct|env|([Hh][Tt][Tt][Pp][Ss]?|[Ss][Oo][Cc][Kk][Ss]5)://[^/?#@\s]+/?)$`, "socks5://127.0.0.1:1080")
	case kindClock:
		return text("clock", `^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$`, "23:00")
	case kindSecret:
		return s.secret()
	}
	return rules{"type": "string", "pattern": `\S`}
}

// value gives what holds where nothing is written, or nil where that cannot be
// written.
func (f form) value(usual string) any {
	none := usual == "off" || usual == "0" || usual == "0%"
	switch {
	case f.off && none:
		return "off"
	case usual == "" || none && f.kind != kindWhole:
		return nil
	}
	switch f.kind {
	case kindWord:
		if !slices.Contains(f.known(), usual) {
			return nil
		}
	case kindFlag:
		return usual == "true"
	case kindWhole:
		if n, err := strconv.Atoi(usual); err == nil && n >= f.least {
			return n
		}
		return nil
	case kindFigure:
		if n, err := strconv.ParseFloat(usual, 64); err == nil {
			return n
		}
		return nil
	}
	return usual
}

func (s *schema) span() rules {
	s.define("span", rules{
		"description": "A length of time with units: 90s, 20m, 1h30m, 14d.",
		"type":        "string",
		"allOf": []rules{
			{"pattern": `^\+?([0-9]+d)?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$`},
			{"pattern": "[1-9]"}, // nothing would mean at once
		},
		"examples": []string{"10m"},
	})
	return rules{"$ref": "#/$defs/span"}
}

func (s *schema) secret() rules {
	properties := rules{}
	for from, text := range map[secretSource]string{
		secretEnv:        "The environment variable that holds it.",
		secretFile:       "The file that holds it; a path may begin with ~/.",
		secretCredential: "The name given to LoadCredential= in the systemd unit.",
	} {
		properties[string(from)] = rules{"type": "string", "pattern": `\S`, "description": text}
	}
	s.define("secret", rules{
		"description": "Where the secret is kept; it never stands in this file.",
		"type":        "object", "properties": properties, "additionalProperties": false,
		"minProperties": 1, "maxProperties": 1,
	})
	return rules{"$ref": "#/$defs/secret"}
}
