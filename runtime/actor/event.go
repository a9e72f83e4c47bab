package actor

import (
	"fmt"
	"time"
)

// Event is something that happened in the system. The set is closed: every kind
// is listed in EventKinds. Events go to the event stream; a subscription of the
// configuration receives them as messages (EventMessage).
type Event interface {
	// Kind names the event in configuration, e.g. "dead-letter".
	Kind() string
	// Fields are the facts, as a body: only types that a Message may carry.
	Fields() map[string]any
}

// EventKinds lists the kinds of all events, for checks and suggestions.
var EventKinds = []string{
	"actor-started", "actor-stopped", "actor-restarted", "actor-failed",
	"dead-letter", "mailbox-high", "message-dropped", "slow-handler",
	"bridge-connected", "bridge-disconnected",
	"plugin-started", "plugin-exited", "reload",
}

// EventMessage is the message a subscriber gets for e.
func EventMessage(e Event) Message { return Message{Kind: e.Kind(), Body: e.Fields()} }

// Reasons of dead letters and drops. A reason may carry detail behind a colon.
const (
	ReasonStopped     = "stopped"      // nobody lives at the address (any more)
	ReasonRemoved     = "removed"      // its actor was taken out of the configuration
	ReasonFull        = "full"         // refused by a full mailbox
	ReasonDropped     = "dropped"      // discarded by an overflow policy
	ReasonCrashed     = "crashed"      // a plugin process died while it had the message
	ReasonUnrouted    = "unrouted"     // no rule and no target matched
	ReasonFailed      = "failed"       // its handler failed; the message was skipped
	ReasonTerminating = "terminating"  // the system was shutting down
	ReasonNoSender    = "no-sender"    // a reply to a message that nobody sent
	ReasonExplicit    = "dead-letters" // sent to the target dead-letters
)

// Started says that an actor runs: it was spawned (incarnation 1) or restarted.
type Started struct {
	Path        Path
	Incarnation uint64
}

// Stopped says that an actor ended for good.
type Stopped struct{ Path Path }

// Restarted says that supervision gave an actor a fresh instance.
type Restarted struct {
	Path     Path
	Restarts uint64 // how often since it was spawned
	Cause    error
}

// Failed says that an actor failed and what was decided.
type Failed struct {
	Path      Path
	Cause     error
	Panic     bool
	Directive string        // resume, restart, stop or escalate
	Delay     time.Duration // back-off before the restart
	Message   string        // kind of the message it failed on; "" in a hook
}

// DeadLetter says that a message did not reach a handler.
type DeadLetter struct {
	Recipient Path
	Sender    Path // "" when nobody sent it
	Message   Message
	Reason    string
	Trace     TraceID
	Time      time.Time
}

// Dropped says that an overflow policy or a limit discarded a message.
type Dropped struct {
	Path    Path
	Message Message
	Policy  string // drop-head, drop-new, drop-lowest …
	Trace   TraceID
}

// MailboxHigh says that a queue reached a warning mark; the next one comes when
// it doubled.
type MailboxHigh struct {
	Path  Path
	Depth int
}

// SlowHandler says that a handler has been running for longer than handler-warn.
type SlowHandler struct {
	Path    Path
	Message string
	Running time.Duration
}

// BridgeConnected and BridgeDisconnected say that a bridge's endpoint came or
// went. Endpoint carries no credentials.
type (
	BridgeConnected struct {
		Path     Path
		Endpoint string
	}
	BridgeDisconnected struct {
		Path     Path
		Endpoint string
		Cause    error
	}
)

// PluginStarted and PluginExited say that a plugin's process came or went.
type (
	PluginStarted struct {
		Plugin, Version string
		PID             int
	}
	PluginExited struct {
		Plugin  string
		PID     int
		Cause   error
		Unacked int // messages it had and did not acknowledge
	}
)

// Reloaded says how a reload ended: applied, unchanged, rejected or rolled-back.
type Reloaded struct {
	Revision uint64
	Result   string
	Cause    error
}

func (Started) Kind() string            { return "actor-started" }
func (Stopped) Kind() string            { return "actor-stopped" }
func (Restarted) Kind() string          { return "actor-restarted" }
func (Failed) Kind() string             { return "actor-failed" }
func (DeadLetter) Kind() string         { return "dead-letter" }
func (Dropped) Kind() string            { return "message-dropped" }
func (MailboxHigh) Kind() string        { return "mailbox-high" }
func (SlowHandler) Kind() string        { return "slow-handler" }
func (BridgeConnected) Kind() string    { return "bridge-connected" }
func (BridgeDisconnected) Kind() string { return "bridge-disconnected" }
func (PluginStarted) Kind() string      { return "plugin-started" }
func (PluginExited) Kind() string       { return "plugin-exited" }
func (Reloaded) Kind() string           { return "reload" }

// Fields returns the facts of each event as a body.
func (e Started) Fields() map[string]any {
	return map[string]any{"path": string(e.Path), "incarnation": int64(e.Incarnation)}
}
func (e Stopped) Fields() map[string]any { return map[string]any{"path": string(e.Path)} }
func (e Restarted) Fields() map[string]any {
	return map[string]any{"path": string(e.Path), "restarts": int64(e.Restarts), "cause": text(e.Cause)}
}
func (e Failed) Fields() map[string]any {
	return map[string]any{
		"path": string(e.Path), "cause": text(e.Cause), "panic": e.Panic,
		"directive": e.Directive, "delay": e.Delay.String(), "message": e.Message,
	}
}
func (e DeadLetter) Fields() map[string]any {
	return map[string]any{
		"recipient": string(e.Recipient), "sender": string(e.Sender), "reason": e.Reason,
		"trace": e.Trace.String(), "kind": e.Message.Kind, "body": e.Message.Body,
	}
}
func (e Dropped) Fields() map[string]any {
	return map[string]any{
		"path": string(e.Path), "policy": e.Policy, "trace": e.Trace.String(),
		"kind": e.Message.Kind, "body": e.Message.Body,
	}
}
func (e MailboxHigh) Fields() map[string]any {
	return map[string]any{"path": string(e.Path), "depth": int64(e.Depth)}
}
func (e SlowHandler) Fields() map[string]any {
	return map[string]any{"path": string(e.Path), "message": e.Message, "running": e.Running.String()}
}
func (e BridgeConnected) Fields() map[string]any {
	return map[string]any{"path": string(e.Path), "endpoint": e.Endpoint}
}
func (e BridgeDisconnected) Fields() map[string]any {
	return map[string]any{"path": string(e.Path), "endpoint": e.Endpoint, "cause": text(e.Cause)}
}
func (e PluginStarted) Fields() map[string]any {
	return map[string]any{"plugin": e.Plugin, "version": e.Version, "pid": int64(e.PID)}
}
func (e PluginExited) Fields() map[string]any {
	return map[string]any{"plugin": e.Plugin, "pid": int64(e.PID), "cause": text(e.Cause), "unacked": int64(e.Unacked)}
}
func (e Reloaded) Fields() map[string]any {
	return map[string]any{"revision": int64(e.Revision), "result": e.Result, "cause": text(e.Cause)}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprint(err)
}
