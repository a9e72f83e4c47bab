// Package file is the behaviour that writes each message as a line of JSON to a
// file.
//
// Lines are gathered in memory and written together, at the latest flush after
// the first of them. Until then a message counts as handled although a crash of
// the daemon would lose its line; flush = every writes each line at once, and
// fsync = every also waits until the disk has it.
//
// What cannot be written is the actor's failure, e.g. because the disk is full.
// The messages go back to the front of the mailbox, so that the next incarnation
// writes them, and the file is cut back to whole lines. A line that a crash tore
// is ended before the next one begins. A file has one writer: a second actor, or
// a second daemon, that opens it fails at the start.
//
// Numbers keep their 64 bits, bytes are written in base64. A body with a number
// that JSON has no word for (NaN, infinities) makes its message a dead letter.
//
// A file that reached max-size is renamed to PATH.1, the next one to PATH.2 and
// so on: higher numbers are newer, and names never change again.
package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/actord/actord/builtin/internal/route"
	"github.com/actord/actord/runtime/actor"
)

// Config is what configuration writes under args.
type Config struct {
	Path     actor.File    `conf:"path,required" class:"live" doc:"the file; it and its folder are created when missing"`
	Include  []string      `conf:"include" class:"live" doc:"what a line holds besides time, trace, kind and body: sender, headers, path (of this actor)"`
	Flush    time.Duration `conf:"flush" default:"100ms" words:"every=0" min:"1ms" class:"live" doc:"how long a line may wait to be written; every writes each at once"`
	Fsync    time.Duration `conf:"fsync" default:"off" words:"off=-1,every=0" min:"1ms" class:"live" doc:"when written lines are forced to the disk: off leaves it to the system, every does it for each message, a duration at the latest after it"`
	MaxSize  actor.Size    `conf:"max-size" default:"64MiB" words:"unlimited=0" min:"1KiB" class:"live" doc:"size at which a new file is begun"`
	MaxFiles int64         `conf:"max-files" default:"14" words:"unlimited=0" min:"1" unit:"files" class:"live" doc:"how many full files are kept besides the one that is written"`
}

// Values of Config.Flush and Config.Fsync that stand for words.
const (
	Every time.Duration = 0
	Off   time.Duration = -1
)

// bufferSize is how many bytes of lines are gathered at most.
const bufferSize = 64 << 10

// Kinds by which the behaviour wakes itself.
const (
	flushTick = "$flush"
	syncTick  = "$sync"
)

var includes = []string{"sender", "headers", "path"}

// Factory makes file behaviours.
func Factory() actor.Factory {
	schema := actor.SchemaOf[Config]("file", "Writes each message as a line of JSON to a file, with a new file when one is full.")
	return actor.FactoryOf(schema, func(c Config) (actor.Behaviour, error) { return New(c) })
}

// New returns a file behaviour. The file is opened by Start.
func New(c Config) (*File, error) {
	if c.Path == "" {
		return nil, errors.New("path is empty; name the file to write")
	}
	for i, name := range c.Include {
		if !slices.Contains(includes, name) {
			return nil, fmt.Errorf("include[%d]: %q is not one of %s%s", i, name, strings.Join(includes, ", "), actor.DidYouMean(name, includes))
		}
	}
	f := &File{config: c}
	f.json = json.NewEncoder(&f.line)
	f.json.SetEscapeHTML(false)
	return f, nil
}

// File writes messages to a file.
type File struct {
	config Config
	out    *appender // nil before Start

	line bytes.Buffer // the line in the making
	json *json.Encoder

	lines   []byte         // whole lines that wait to be written
	letters []actor.Letter // their messages
	flushBy time.Time      // when the next flushTick comes; zero when none is set
	syncBy  time.Time      // when the next syncTick comes; zero when none is set
}

// Receive gathers the line of m, or does what it is time for.
func (f *File) Receive(ctx actor.Context, m actor.Message) error {
	switch m.Kind {
	case flushTick:
		f.flushBy = time.Time{}
		return f.flush(ctx)
	case syncTick:
		f.syncBy = time.Time{}
		return f.out.sync()
	}
	now := time.Now()
	if err := f.encode(ctx, m, now); err != nil {
		route.Unrouted(ctx, "cannot be written as JSON: "+err.Error())
		return nil
	}
	if len(f.lines) > 0 && f.out.exceeds(len(f.lines)+f.line.Len()) {
		if back, err := f.write(); err != nil {
			return fail(ctx, err, append(back, ctx.Letter()))
		}
	}
	f.lines = append(f.lines, f.line.Bytes()...)
	f.letters = append(f.letters, ctx.Letter())
	return f.flushOrWait(ctx, now)
}

// line is the form of a line. Fields that are not asked for stay empty.
type line struct {
	Time    time.Time     `json:"time"`
	Trace   string        `json:"trace"`
	Kind    string        `json:"kind"`
	Path    actor.Path    `json:"path,omitempty"`
	Sender  actor.Path    `json:"sender,omitempty"`
	Headers actor.Headers `json:"headers,omitempty"`
	Body    any           `json:"body"`
}

// encode makes the line of m in f.line; an error leaves it empty.
func (f *File) encode(ctx actor.Context, m actor.Message, now time.Time) error {
	l := line{Time: now.UTC(), Trace: ctx.Trace().String(), Kind: m.Kind, Body: m.Body}
	for _, name := range f.config.Include {
		switch name {
		case "path":
			l.Path = ctx.Self().Path()
		case "headers":
			l.Headers = m.Headers
		case "sender":
			if s := ctx.Sender(); s != nil {
				l.Sender = s.Path()
			}
		}
	}
	f.line.Reset()
	return f.json.Encode(l)
}

// flushOrWait writes the lines when it is time and sets a timer for it otherwise.
// The clock is looked at as well, since a full mailbox may discard a tick.
func (f *File) flushOrWait(ctx actor.Context, now time.Time) error {
	wait := f.config.Flush
	overdue := !f.flushBy.IsZero() && now.After(f.flushBy)
	if overdue {
		f.flushBy = time.Time{}
	}
	if overdue || wait == Every || f.config.Fsync == Every || len(f.lines) >= bufferSize {
		return f.flush(ctx)
	}
	if f.flushBy.IsZero() {
		f.flushBy = now.Add(wait)
		ctx.After(wait, actor.Message{Kind: flushTick})
	}
	return nil
}

// flush writes the lines and syncs as far as it is time to.
func (f *File) flush(ctx actor.Context) error {
	if back, err := f.write(); err != nil {
		return fail(ctx, err, back)
	}
	return f.syncOrWait(ctx)
}

// fail makes err the actor's failure and gives letters back to its mailbox, the
// current one possibly among them. It always returns nil: the current message
// has not failed, it comes again.
func fail(ctx actor.Context, err error, back []actor.Letter) error {
	ctx.Handle().Fail(err, back...)
	return nil
}

// write empties the buffer into the file. With an error come the letters of the
// lines that are not in the file.
func (f *File) write() ([]actor.Letter, error) {
	if len(f.lines) == 0 {
		return nil, nil
	}
	err := f.out.append(f.lines)
	f.lines = f.lines[:0]
	if cap(f.lines) > 16*bufferSize {
		f.lines, f.line = nil, bytes.Buffer{} // give the memory of a large message back
	}
	if err != nil {
		back := f.letters
		f.letters = nil
		return back, err
	}
	clear(f.letters)
	f.letters = f.letters[:0]
	return nil, nil
}

func (f *File) syncOrWait(ctx actor.Context) error {
	wait, now := f.config.Fsync, time.Now()
	overdue := !f.syncBy.IsZero() && now.After(f.syncBy)
	switch {
	case wait == Off || !f.out.dirty:
	case wait == Every || overdue:
		f.syncBy = time.Time{}
		return f.out.sync()
	case f.syncBy.IsZero():
		f.syncBy = now.Add(wait)
		ctx.After(wait, actor.Message{Kind: syncTick})
	}
	return nil
}

// Start opens the file.
func (f *File) Start(actor.Context) (err error) {
	f.out, err = open(f.config)
	return err
}

// Stop writes what waits and closes the file. What cannot be written any more
// becomes dead letters.
func (f *File) Stop(ctx actor.Context) error {
	if f.out == nil {
		return nil
	}
	back, err := f.write()
	for _, l := range back {
		ctx.Handle().DeadLetter(l, actor.ReasonStopped+": "+err.Error())
	}
	return errors.Join(err, f.out.close())
}

// Reconfigure takes a new configuration in place. What waits is written first,
// under the old one.
func (f *File) Reconfigure(ctx actor.Context, c Config) error {
	next, err := New(c)
	if err != nil {
		return err
	}
	if back, err := f.write(); err != nil {
		_ = fail(ctx, err, back)
		return err
	}
	if c.Path == f.config.Path {
		f.config = c
		f.out.limit(c)
		return f.syncOrWait(ctx)
	}
	if err := next.Start(ctx); err != nil {
		return err
	}
	if err := f.out.close(); err != nil {
		ctx.Log().Warn("closing the old file failed", "err", err)
	}
	f.config, f.out = c, next.out
	return nil
}
