package host

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strings"
)

// Limits of what a process writes.
const (
	maxLine  = 8 << 10 // bytes of a line that are logged
	tailSize = 8       // lines that an error quotes
)

// handshakeLine is what a plugin says when it is ready. It may print other things
// before.
var handshakeLine = regexp.MustCompile(`^\d+\|\d+\|[a-z]+\|[^|]+\|[a-z]+(\||$)`)

// pump logs what the process writes, line by line, until it ends. It never stops
// reading early, so the process never blocks on it, and it interprets nothing but
// the handshake.
func (r *runner) pump(from io.Reader, stream string) {
	panicking := false
	var dump dump
	eachLine(from, func(line string, cut int) {
		if stream == "stdout" && r.handshake(line) || dump.takes(line) {
			return
		}
		r.remember(line)
		panicking = panicking || strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
		level, attrs := slog.LevelInfo, []any{"line", line, "stream", stream}
		if panicking {
			level = slog.LevelError
		}
		if cut > 0 {
			attrs = append(attrs, "cut-bytes", cut)
		}
		r.log.Log(context.Background(), level, "plugin wrote", attrs...)
	})
	if dump.begun {
		r.log.Error("plugin was doing this", "stacks", dump.text.String(), "cut-bytes", dump.cut)
	}
	if stream == "stdout" {
		r.mu.Lock()
		defer r.mu.Unlock()
		close(r.ready)
	}
}

// dump is what a Go program writes when it is asked for its stacks (SIGQUIT): its
// last words, which are one record.
type dump struct {
	begun bool
	text  strings.Builder
	cut   int
}

// maxDump is how much of a dump is logged.
const maxDump = 64 << 10

// takes reports whether a line belongs to the dump.
func (d *dump) takes(line string) bool {
	d.begun = d.begun || strings.HasPrefix(line, "SIGQUIT: ")
	switch {
	case !d.begun:
		return false
	case d.text.Len() > maxDump:
		d.cut += len(line)
	default:
		d.text.WriteString(line + "\n")
	}
	return true
}

// handshake passes the first handshake line on.
func (r *runner) handshake(line string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.line != "" || !handshakeLine.MatchString(line) {
		return false
	}
	r.line = line
	r.ready <- line
	return true
}

func (r *runner) remember(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tail = append(r.tail, line[:min(len(line), 200)]); len(r.tail) > tailSize {
		r.tail = r.tail[1:]
	}
}

// said quotes the handshake line and the last output.
func (r *runner) said() (line, tail string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.line, strings.Join(r.tail, "\n  ")
}

// eachLine calls f with every line of r, without its end, and with the number of
// bytes that were cut off because it is longer than maxLine.
func eachLine(r io.Reader, f func(line string, cut int)) {
	in := bufio.NewReaderSize(r, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		text, cut := strings.TrimRight(string(line), "\r\n"), 0
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = in.ReadSlice('\n')
			cut += len(line)
		}
		if text != "" || err == nil {
			f(text, cut)
		}
		if err != nil {
			return
		}
	}
}
