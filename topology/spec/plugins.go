package spec

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/actord/actord/runtime/actor"
	"github.com/actord/actord/runtime/supervise"
)

// plugins reads the plugins section.
func (c *checker) plugins(defaults, block *value) []*Plugin {
	if defaults.isObject() {
		own := []string{"command", "sha256", "version"}
		fields := slices.DeleteFunc(optional(pluginSchema.Fields), func(f actor.Field) bool { return slices.Contains(own, f.Name) })
		c.fields(defaults, nil, decodeOne(fields, defaults))
		defaults = defaults.without(own...)
	}
	var out []*Plugin
	for name, own := range entries(block) {
		if err := actor.CheckName(name); err != nil {
			c.atKey(block, []string{name}, err)
			continue
		}
		if !own.isObject() {
			c.at(own, nil, fmt.Errorf("a plugin is an object (want %s { command = [ … ] })", name))
			continue
		}
		out = append(out, c.plugin(name, own, merge(defaults, own)))
	}
	return out
}

func (c *checker) plugin(name string, own, v *value) *Plugin {
	values, errs := pluginSchema.Decode(c.reveal(v, pluginSchema.Fields).raw(pluginSchema.Fields))
	c.fields(v, nil, errs)
	p := &Plugin{Name: name, Pos: own.node.KeyPos}
	bad := broken(errs)
	maps.DeleteFunc(values, func(key string, _ any) bool { return bad[key] })
	if values["env-allow"] == nil {
		values["env-allow"] = slices.Clone(defaultEnvAllow)
	}
	conf := actor.Fill[pluginConf](values)
	p.Command, p.Version = conf.Command, conf.Version
	p.SHA256 = strings.ToLower(conf.SHA256)
	p.Delivery, p.MaxMessage = conf.Delivery, conf.MaxMessage
	p.HandlerTimeout, p.StopTimeout = conf.HandlerTimeout, conf.StopTimeout
	p.Window, p.Env, p.EnvAllow = Window(conf.Window), conf.Env, conf.EnvAllow
	p.Restart = PluginRestart{
		Backoff: supervise.Backoff{
			Min: conf.Restart.Min, Max: conf.Restart.Max, Factor: conf.Restart.Factor, Jitter: float64(conf.Restart.Jitter),
		},
		MaxRestarts: conf.Restart.MaxRestarts, Within: conf.Restart.Within,
	}
	c.backoff(v, []string{"restart", "min"}, p.Restart.Backoff)
	if len(p.Command) > 0 && p.Command[0] == "" {
		c.at(v, []string{"command", "0"}, fmt.Errorf("the program has no name (want a path, e.g. ./bin/%s)", name))
	}
	if b, err := hex.DecodeString(p.SHA256); err != nil || len(b) != 32 && p.SHA256 != "" {
		c.at(v, []string{"sha256"}, fmt.Errorf("%q is not a SHA-256 hash (want 64 hex digits, as sha256sum prints them)", conf.SHA256))
	}
	for _, k := range slices.Sorted(maps.Keys(p.Env)) {
		if k == "" || strings.ContainsAny(k, "=\x00") {
			c.atKey(v, []string{"env", k}, fmt.Errorf("%q cannot be the name of an environment variable", k))
		}
	}
	p.Settings = settings("", actor.Replace, pluginSchema.Fields, values)
	p.Hash = digest(p.Settings)
	return p
}
