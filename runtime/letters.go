package runtime

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/actord/actord/runtime/actor"
)

// LetterStorage says what is remembered of dead letters.
type LetterStorage uint8

// What is remembered of dead letters.
const (
	LettersOff     LetterStorage = iota // nothing
	LettersCounted                      // how many, by recipient and reason
	LettersKept                         // and the latest ones, to be looked at and told again
)

// DeadLetterSettings say what is remembered of dead letters.
type DeadLetterSettings struct {
	Store        LetterStorage
	MaxEntries   int           // kept at most, the oldest go first; 0 means 1000
	Retention    time.Duration // older ones are forgotten; 0 means never
	MaxReplays   int           // so often one may be told again; it is in quarantine then
	IncludeDrops bool          // messages that an overflow policy discarded are remembered as well
}

// DefaultDeadLetters are the settings of a system that was told nothing else.
func DefaultDeadLetters() DeadLetterSettings {
	return DeadLetterSettings{Store: LettersCounted, MaxEntries: defaultMaxLetters, Retention: time.Hour, MaxReplays: 3}
}

const defaultMaxLetters = 1000

// WithDeadLetters sets what is remembered of dead letters; DefaultDeadLetters
// otherwise.
func WithDeadLetters(set DeadLetterSettings) Option {
	return func(s *System) { s.letters.settings.Store(&set) }
}

// WithLetterStore sets where letters are kept; in memory otherwise.
func WithLetterStore(store LetterStore) Option { return func(s *System) { s.letters.store = store } }

// LostLetter is a message that was lost.
type LostLetter struct {
	ID        uint64
	Time      time.Time // when it was lost, for the last time
	Recipient actor.Path
	Sender    actor.Path    // "" when nobody sent it
	Message   actor.Message // of an actor that takes other messages, the kind alone
	Original  any           // what was told to such an actor; nil for an actor.Message
	Reason    string
	Trace     actor.TraceID
	Dropped   bool // an overflow policy discarded it
	Replays   int  // how often it was told again and lost again
}

// LetterQuery selects letters. The zero value selects all.
type LetterQuery struct {
	Path         actor.Path // lost on the way to this address; "" means any
	Under        actor.Path // to this address or one below it; "" means any
	Since, Until time.Time  // lost in this time, Until not included; zero means no bound
	Limit        int        // so many at most; 0 means all
}

// Matches reports whether the query selects l.
func (q LetterQuery) Matches(l *LostLetter) bool {
	switch {
	case q.Path != "" && l.Recipient != q.Path:
	case q.Under != "" && !l.Recipient.Under(q.Under):
	case !q.Since.IsZero() && l.Time.Before(q.Since):
	case !q.Until.IsZero() && !l.Time.Before(q.Until):
	default:
		return true
	}
	return false
}

// LetterCount says how many messages were lost on the way to one address for one
// reason.
type LetterCount struct {
	Recipient actor.Path // "" stands for all that are beyond the number of addresses that are told apart
	Reason    string
	Count     uint64
}

// DeadLetters are what a system remembers of lost messages. Its methods are safe
// for concurrent use, and looking at it holds no sender up for longer than it takes
// to copy the entries that are kept.
type DeadLetters struct {
	sys      *System
	settings atomic.Pointer[DeadLetterSettings]

	mu     sync.Mutex // guards what follows
	store  LetterStore
	last   uint64 // the ID that was given last
	counts map[countKey]uint64
	full   bool // not all addresses are told apart
}

type countKey struct {
	recipient actor.Path
	reason    string
}

// maxCounted is how many pairs of recipient and reason are counted for themselves.
const maxCounted = 1000

func (d *DeadLetters) init(s *System) {
	d.sys, d.counts = s, map[countKey]uint64{}
	if d.settings.Load() == nil {
		d.settings.Store(new(DefaultDeadLetters()))
	}
	if d.store == nil {
		d.store = newMemoryLetters()
	}
}

// DeadLetters returns what the system remembers of lost messages.
func (s *System) DeadLetters() *DeadLetters { return &s.letters }

// Settings returns what is in force.
func (d *DeadLetters) Settings() DeadLetterSettings { return *d.settings.Load() }

// Configure changes the settings. What is no longer to be kept is forgotten.
func (d *DeadLetters) Configure(set DeadLetterSettings) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.settings.Store(&set)
	if set.Store != LettersKept {
		d.store.Remove(LetterQuery{})
	}
	if set.Store == LettersOff {
		d.counts, d.full = map[countKey]uint64{}, false
	}
	d.trim(time.Now())
}

// off reports that nothing is remembered.
func (d *DeadLetters) off() bool { return d.settings.Load().Store == LettersOff }

// trim forgets what is too much or too old. mu is held.
func (d *DeadLetters) trim(now time.Time) {
	set := d.settings.Load()
	before := time.Time{}
	if set.Retention > 0 {
		before = now.Add(-set.Retention)
	}
	d.store.Trim(cmp.Or(set.MaxEntries, defaultMaxLetters), before)
}

// lost remembers a message that was lost, before anybody is told. m is what was
// told. A message about an event is counted alone, since what becomes of it must
// make nothing new.
func (d *DeadLetters) lost(l LostLetter, m any, mt *meta) {
	set := d.settings.Load()
	if set.Store == LettersOff {
		return
	}
	again := mt.replayOf(l.Recipient)
	if l.Dropped && !set.IncludeDrops && again == nil {
		return
	}
	d.mu.Lock()
	warn := d.count(l.Recipient, l.Reason)
	if set.Store == LettersKept && !mt.aboutEvent() {
		d.keep(l, m, again)
	}
	d.mu.Unlock()
	if warn {
		d.sys.log.Warn("dead letters go to so many addresses that further ones are counted together", "addresses", maxCounted)
	}
}

// keep stores l, as the entry it was when it was told again. mu is held.
func (d *DeadLetters) keep(l LostLetter, m any, again *replay) {
	if again != nil {
		l.ID, l.Replays = again.letter.ID, again.letter.Replays+1
	} else {
		d.last++
		l.ID = d.last
	}
	l.Message = asMessage(m)
	if _, plain := m.(actor.Message); !plain {
		l.Original = m
	}
	d.store.Put(l)
	d.trim(l.Time)
}

// count reports true when it cannot tell all addresses apart for the first time.
func (d *DeadLetters) count(recipient actor.Path, reason string) (warn bool) {
	if recipient.Under(actor.Temp) {
		recipient = actor.Temp // they are as many as there are questions
	}
	key := countKey{recipient, classOf(reason)}
	if _, known := d.counts[key]; !known && len(d.counts) >= maxCounted {
		key.recipient = ""
		if !slices.Contains(lossReasons, key.reason) {
			key.reason = "other"
		}
		warn, d.full = !d.full, true
	}
	d.counts[key]++
	return warn
}

// lossReasons are what dead letters are counted by.
var lossReasons = []string{
	actor.ReasonStopped, actor.ReasonRemoved, actor.ReasonFull, actor.ReasonDropped, actor.ReasonCrashed, actor.ReasonUnrouted,
	actor.ReasonFailed, actor.ReasonTerminating, actor.ReasonNoSender, actor.ReasonExplicit,
}

// classOf is a reason without its detail.
func classOf(reason string) string {
	for _, known := range lossReasons {
		if rest, ok := strings.CutPrefix(reason, known); ok && (rest == "" || rest[0] == ':' || rest[0] == ' ') {
			return known
		}
	}
	class, _, _ := strings.Cut(reason, ":")
	return class
}

// Counts returns how many messages were lost, the most first.
func (d *DeadLetters) Counts() []LetterCount {
	d.mu.Lock()
	counts := maps.Clone(d.counts)
	d.mu.Unlock()
	out := make([]LetterCount, 0, len(counts))
	for k, n := range counts {
		out = append(out, LetterCount{k.recipient, k.reason, n})
	}
	slices.SortFunc(out, func(a, b LetterCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Recipient, b.Recipient), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// List returns the letters that are kept and that q selects, the latest first.
func (d *DeadLetters) List(q LetterQuery) []LostLetter {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trim(time.Now())
	return d.store.List(q)
}

// Show returns the letter with the ID.
func (d *DeadLetters) Show(id uint64) (LostLetter, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.trim(time.Now())
	return d.store.Get(id)
}

// Purge forgets the letters that q selects, and returns how many those were. The
// limit of q does not count.
func (d *DeadLetters) Purge(q LetterQuery) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.store.Remove(q)
}

// Quarantined reports whether l has been told again as often as it may be.
func (d *DeadLetters) Quarantined(l LostLetter) bool {
	return l.Replays >= d.settings.Load().MaxReplays
}
