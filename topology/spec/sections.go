package spec

import (
	"time"

	"github.com/actord/actord/runtime/actor"
)

// fileConf is what may stand in `actord { }`. Sections with names of the
// author's choice are maps here; their entries have structs of their own.
type fileConf struct {
	System         systemConf                `conf:"system" doc:"the system as a whole"`
	Log            logConf                   `conf:"log" doc:"what is logged and how" class:"live"`
	Reload         reloadConf                `conf:"reload" doc:"how changes of the file are noticed and applied" class:"live"`
	Shutdown       shutdownConf              `conf:"shutdown" doc:"the phases of a shutdown" class:"live"`
	DeadLetters    deadLettersConf           `conf:"dead-letters" doc:"what is remembered of lost messages" class:"live"`
	Dispatchers    map[string]dispatcherConf `conf:"dispatchers" doc:"how actors get to run: default, pinned, and names of your choice" class:"live"`
	Events         eventsConf                `conf:"events" doc:"who is told about events of the system"`
	Topics         map[string]any            `conf:"topics" doc:"names to publish to, each with its subscribers"`
	ActorDefaults  map[string]any            `conf:"actor-defaults" doc:"lies under every actor"`
	Templates      map[string]any            `conf:"templates" doc:"blocks that actors take over with use"`
	Profiles       map[string]any            `conf:"profiles" doc:"what actord --profile NAME puts over all of this"`
	Actors         map[string]any            `conf:"actors" doc:"the actors under /user"`
	BridgeDefaults map[string]any            `conf:"bridge-defaults" doc:"lies under every bridge; TYPE { … } under those of a type"`
	Bridges        map[string]any            `conf:"bridges" doc:"the connections to brokers and peers"`
	PluginDefaults map[string]any            `conf:"plugin-defaults" doc:"lies under every plugin"`
	Plugins        map[string]any            `conf:"plugins" doc:"programs that bring behaviours"`
	EOF            bool                      `conf:"eof" default:"off" doc:"the end marker of reload.require-eof" class:"cosmetic"`
}

type systemConf struct {
	Name         string        `conf:"name" default:"default" doc:"shown in logs and traces" class:"process"`
	DrainTimeout time.Duration `conf:"shutdown-drain-timeout" default:"2s" min:"0s" doc:"how long a shutdown waits for the actors to become quiet; 0 means not at all" class:"live"`
	RootFailure  string        `conf:"root-failure" default:"shutdown" enum:"shutdown|stop-subtree" doc:"what an escalation past the top does" class:"live"`
	StateDir     actor.File    `conf:"state-dir" default:"" doc:"folder for what outlives a run; empty means one below the user's state directory" class:"process"`
}

type logConf struct {
	Level  string            `conf:"level" default:"info" enum:"debug|info|warn|error" doc:"the least level that is logged"`
	Format string            `conf:"format" default:"auto" enum:"auto|text|json" doc:"auto is text on a terminal, json elsewhere"`
	Levels map[string]string `conf:"levels" doc:"other levels for an actor and all below it, by path"`
}

type reloadConf struct {
	Watch    bool          `conf:"watch" default:"on" doc:"reload when the files change"`
	Quiet    time.Duration `conf:"quiet" default:"100ms" min:"0s" max:"1m" doc:"how long the files must stay unchanged"`
	Poll     time.Duration `conf:"poll" default:"5s" min:"100ms" words:"off=0" doc:"how often contents are compared, for folders that report no changes"`
	Deadline time.Duration `conf:"deadline" default:"30s" min:"100ms" doc:"how long applying a change may take"`

	Probation     time.Duration `conf:"probation" default:"10s" min:"0s" words:"off=0" doc:"how long what a reload touched must do well; else the revision before comes back"`
	Healthy       actor.Expr    `conf:"healthy" default:"" expr:"bool" doc:"must stay true during the probation; msg holds failures, restarts, stopped, dead_letters, dropped (since the reload), bridges_down and seconds"`
	KeepRevisions int           `conf:"keep-revisions" default:"10" min:"1" max:"1000" unit:"revisions" doc:"how many are kept in the state directory"`
	MaxRemoved    actor.Percent `conf:"max-removed" default:"0.5" min:"0" max:"1" doc:"a reload that deletes a greater share of the actors must stay the same for removed-hold, or be forced"`
	RemovedHold   time.Duration `conf:"removed-hold" default:"2s" min:"0s" max:"1m" doc:"how long a file that deletes many actors must stay the same"`
	RequireEOF    bool          `conf:"require-eof" default:"off" doc:"the last line of the file must be actord.eof = true"`
}

type eventsConf struct {
	Subscriptions []subscriptionConf `conf:"subscriptions" doc:"actors that get events as messages" class:"live"`
}

type subscriptionConf struct {
	To     actor.Target `conf:"to,required" doc:"who gets the events"`
	Events []string     `conf:"events,required" min:"1" doc:"their kinds"`
	When   actor.Expr   `conf:"when" default:"" expr:"bool" doc:"only events for which this is true"`
}

// actorConf is an actor's block, and actor-defaults but for its children.
type actorConf struct {
	Behaviour        string          `conf:"behaviour,required" doc:"what the actor does: router or PLUGIN/BEHAVIOUR" class:"replace"`
	Args             map[string]any  `conf:"args" doc:"the behaviour's own keys"`
	Use              []string        `conf:"use" doc:"templates that lie under the actor, later ones over earlier ones" class:"cosmetic"`
	Foreach          any             `conf:"foreach" doc:"a list or a map; an actor is made for each, with {item}, {item.FIELD}, {key} and {index} filled in" class:"cosmetic"`
	Count            int             `conf:"count" min:"0" unit:"actors" doc:"so many actors are made, NAME-1 and so on, with {index} filled in" class:"cosmetic"`
	Name             string          `conf:"name" doc:"the name of each actor of foreach or count, with what differs in it; KEY-{key} when not given" class:"cosmetic"`
	Description      string          `conf:"description" default:"" doc:"for people" class:"cosmetic"`
	Was              string          `conf:"was" default:"" doc:"the path that the actor had before it was renamed; it keeps its mailbox and its state" class:"cosmetic"`
	Mailbox          mailboxConf     `conf:"mailbox" doc:"the queue" class:"live"`
	Supervision      supervisionConf `conf:"supervision" doc:"what happens when this actor fails" class:"live"`
	ChildSupervision supervisionConf `conf:"child-supervision" doc:"lies under the supervision of the children" class:"live"`
	Pool             poolConf        `conf:"pool" doc:"several actors behind one address" class:"live"`
	Throttle         throttleConf    `conf:"throttle" doc:"how many messages are handled" class:"live"`
	ReceiveTimeout   time.Duration   `conf:"receive-timeout" default:"off" min:"1ms" words:"off=0" doc:"silence after which something happens; timers do not break it" class:"live"`
	OnReceiveTimeout string          `conf:"on-receive-timeout" default:"message" enum:"message|stop" doc:"what happens then: the actor is told a message of kind receive-timeout, or ends" class:"live"`
	Watch            actor.Targets   `conf:"watch" doc:"actors whose end the actor is told, by a message of kind terminated" class:"rewire"`

	Timers map[string]timerConf `conf:"timers" doc:"messages that the actor is told from time to time" class:"live"`

	Dispatcher  string         `conf:"dispatcher" default:"default" doc:"who runs it: default, pinned, or one of dispatchers" class:"replace"`
	StopTimeout time.Duration  `conf:"stop-timeout" default:"5s" min:"1ms" doc:"how long a stop may work off the queue" class:"live"`
	StartOrder  int            `conf:"start-order" default:"0" doc:"lower starts first among siblings" class:"cosmetic"`
	OnFull      string         `conf:"on-full" default:"dead-letter" enum:"dead-letter|drop|retry|block" doc:"for what this actor sends to a full mailbox" class:"live"`
	HandlerWarn time.Duration  `conf:"handler-warn" default:"10s" min:"1ms" words:"off=0" doc:"report a handler that runs longer" class:"live"`
	Children    map[string]any `conf:"children" doc:"the actors below this one"`
}

type mailboxConf struct {
	Capacity     int           `conf:"capacity" default:"unlimited" min:"1" max:"1000000000" words:"unlimited=0" unit:"messages" doc:"bound of the queue, in messages"`
	Overflow     string        `conf:"overflow" enum:"drop-head|drop-new|reject|block|drop-lowest" doc:"what happens to a message that meets a full queue; drop-head, with a priority reject"`
	BlockTimeout time.Duration `conf:"block-timeout" default:"1s" min:"1ms" doc:"how long overflow = block waits"`
	Priority     actor.Expr    `conf:"priority" default:"" expr:"number" doc:"the rank of a message, lower is sooner; first come, first served among equals"`
	PriorityElse float64       `conf:"priority-default" default:"lowest" words:"lowest=9223372036854775807" doc:"the rank of messages for which the priority fails"`
	WarnAt       int           `conf:"warn-at" default:"10000" min:"1" words:"off=0" unit:"messages" doc:"queue length of the first warning; then at every doubling"`
	StashCap     int           `conf:"stash-capacity" default:"1024" min:"1" max:"1000000000" unit:"messages" doc:"how many messages the behaviour may set aside"`
}

type supervisionConf struct {
	OnFailure    string        `conf:"on-failure" default:"restart" enum:"restart|resume|stop|escalate" doc:"what a failure does"`
	Rules        []ruleConf    `conf:"rules" doc:"exceptions from on-failure; the first match wins"`
	Scope        string        `conf:"scope" default:"one-for-one" enum:"one-for-one|all-for-one" doc:"all-for-one gives the answer to all siblings as well"`
	MaxRestarts  int           `conf:"max-restarts" default:"10" min:"0" words:"unlimited=-1" unit:"restarts" doc:"restarts granted within the time of within"`
	Within       time.Duration `conf:"within" default:"1m" min:"0s" doc:"the time in which max-restarts counts; 0 means since the start"`
	OnExhausted  string        `conf:"on-exhausted" default:"stop" enum:"stop|escalate" doc:"what happens when max-restarts is used up"`
	Backoff      backoffConf   `conf:"backoff" doc:"the delay before a restart"`
	KeepChildren bool          `conf:"keep-children" default:"off" doc:"children live on over a restart; off stops them before it"`
}

type ruleConf struct {
	When actor.Expr `conf:"when,required" expr:"bool" doc:"a condition on error"`
	Then string     `conf:"then,required" enum:"restart|resume|stop|escalate" doc:"what to do"`
}

type backoffConf struct {
	Min        time.Duration `conf:"min" default:"0s" min:"0s" doc:"the first delay; 0 means none at all"`
	Max        time.Duration `conf:"max" default:"30s" min:"0s" doc:"no delay is longer"`
	Factor     float64       `conf:"factor" default:"2" min:"1" doc:"how much longer each delay is than the one before"`
	Jitter     actor.Percent `conf:"jitter" default:"0.2" min:"0" max:"1" doc:"share by which delays differ at random"`
	ResetAfter time.Duration `conf:"reset-after" default:"30s" min:"0s" doc:"a run of this length makes the next delay the first again"`
}

// bridgeConf is what every bridge has; the rest is its type's schema.
type bridgeConf struct {
	Type        string `conf:"type,required" doc:"the kind of bridge" class:"replace"`
	Description string `conf:"description" default:"" doc:"for people" class:"cosmetic"`
}

// pluginConf is a plugin's block.
type pluginConf struct {
	Command []string `conf:"command,required" min:"1" doc:"the program and its arguments" class:"replace"`
	SHA256  string   `conf:"sha256" default:"" doc:"hash of the program in hex; it is not started when it differs" class:"replace"`
	Version string   `conf:"version" default:"" doc:"the version that the plugin must have" class:"replace"`
	pluginShared
}

// pluginShared is what plugin-defaults may hold as well.
type pluginShared struct {
	Restart        pluginRestartConf       `conf:"restart" doc:"how a dead process is started again" class:"replace"`
	Delivery       string                  `conf:"delivery" default:"at-least-once" enum:"at-least-once|at-most-once" doc:"what happens to messages that a process had not acknowledged when it died: handled again, or dead letters" class:"replace"`
	MaxMessage     actor.Size              `conf:"max-message" default:"4MiB" min:"1KiB" max:"32MiB" doc:"how large a message may be" class:"replace"`
	HandlerTimeout time.Duration           `conf:"handler-timeout" default:"30s" min:"1ms" doc:"how long the handling of a message may take" class:"replace"`
	StopTimeout    time.Duration           `conf:"stop-timeout" default:"5s" min:"0s" doc:"how long the process may take to end" class:"replace"`
	Window         windowConf              `conf:"window" doc:"what the process may have received and not yet handled" class:"replace"`
	Env            map[string]actor.Secret `conf:"env" doc:"environment variables of the process; each may be { env = NAME }, { file = PATH } or { command = [ … ] }" class:"replace"`
	EnvAllow       []string                `conf:"env-allow" doc:"variables of the daemon that the process gets as well; PATH, HOME, LANG and TZ unless set" class:"replace"`
}

type pluginRestartConf struct {
	Min         time.Duration `conf:"min" default:"1s" min:"0s" doc:"the first delay"`
	Max         time.Duration `conf:"max" default:"30s" min:"0s" doc:"no delay is longer"`
	Factor      float64       `conf:"factor" default:"2" min:"1" doc:"how much longer each delay is than the one before"`
	Jitter      actor.Percent `conf:"jitter" default:"0.2" min:"0" max:"1" doc:"share by which delays differ at random"`
	MaxRestarts int           `conf:"max-restarts" default:"10" min:"0" words:"unlimited=-1" unit:"restarts" doc:"restarts granted within the time of within"`
	Within      time.Duration `conf:"within" default:"5m" min:"0s" doc:"the time in which max-restarts counts; 0 means since the start"`
}

type windowConf struct {
	Messages int        `conf:"messages" default:"1024" min:"1" max:"1000000" unit:"messages" doc:"bound in messages"`
	Bytes    actor.Size `conf:"bytes" default:"4MiB" min:"4KiB" max:"1GiB" doc:"bound in bytes"`
}

// The schemas of the sections.
var (
	fileSchema   = actor.SchemaOf[fileConf]("actord", "A system of actors.")
	actorSchema  = oneOrMore(actor.SchemaOf[actorConf]("actor", "An actor."), "use")
	bridgeSchema = actor.SchemaOf[bridgeConf]("bridge", "A bridge.")
	pluginSchema = actor.SchemaOf[pluginConf]("plugin", "A plugin.")
)

// defaultEnvAllow is the default of env-allow. It is not in the tag because a
// list has no form there.
var defaultEnvAllow = []any{"PATH", "HOME", "LANG", "TZ"}

// oneOrMore lets a list be given as a single element.
func oneOrMore(s actor.Schema, name string) actor.Schema {
	for i := range s.Fields {
		if s.Fields[i].Name == name {
			s.Fields[i].Lone = true
		}
	}
	return s
}
