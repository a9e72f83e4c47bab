package actor

import (
	"fmt"
	"strings"
)

// Target says where a message goes, as configuration writes it: an absolute
// path ("/user/a"), a relative one ("./child", "../sibling"), "bridge:NAME/OUT",
// "topic:NAME", "reply" (the sender) or "dead-letters". Context.Resolve turns it
// into a Ref.
type Target string

// Targets that are words rather than addresses.
const (
	ToReply       Target = "reply"
	ToDeadLetters Target = "dead-letters"
)

// TargetKind tells the forms of a Target apart.
type TargetKind uint8

// The forms of a Target.
const (
	PathTarget        TargetKind = iota // an absolute or relative path
	BridgeTarget                        // bridge:NAME/OUT
	TopicTarget                         // topic:NAME
	ReplyTarget                         // reply
	DeadLettersTarget                   // dead-letters
)

// Parse checks the form of t and returns its kind. It does not know which
// actors exist. Base is the path that relative references start from; the
// returned path is the absolute one for PathTarget, the bridge's actor for
// BridgeTarget, and empty otherwise.
func (t Target) Parse(base Path) (TargetKind, Path, error) {
	s := string(t)
	switch {
	case t == ToReply:
		return ReplyTarget, "", nil
	case t == ToDeadLetters:
		return DeadLettersTarget, DeadLetters, nil
	case strings.HasPrefix(s, "topic:"):
		return TopicTarget, "", CheckName(s[len("topic:"):])
	case strings.HasPrefix(s, "bridge:"):
		bridge, out, ok := strings.Cut(s[len("bridge:"):], "/")
		if !ok || CheckName(bridge) != nil || CheckName(out) != nil {
			return 0, "", fmt.Errorf("%q is not a bridge target (want bridge:NAME/OUT)", s)
		}
		return BridgeTarget, System.Child("bridges").Child(bridge), nil
	case strings.HasPrefix(s, "/"):
		p, err := ParsePath(s)
		return PathTarget, p, err
	case s == "." || s == ".." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../"):
		p, err := base.Join(s)
		return PathTarget, p, err
	default:
		return 0, "", fmt.Errorf("%q is not a target (want /user/NAME, ./CHILD, ../SIBLING, bridge:NAME/OUT, topic:NAME, reply or dead-letters)", s)
	}
}
