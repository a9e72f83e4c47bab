package actord

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/actord/actord/internal/control"
	"github.com/actord/actord/runtime"
	"github.com/actord/actord/topology"
	"github.com/actord/actord/topology/hocon"
	"github.com/actord/actord/topology/spec"
)

// shutdownLimit is how long an ordered shutdown may take, beyond what its phases may,
// before it is forced.
const shutdownLimit = 30 * time.Second

// run is the daemon.
func (a *app) run(ctx context.Context, args []string) int {
	file, err := a.file(args)
	if err != nil {
		fmt.Fprintln(a.err, "actord run:", err)
		return ExitUsage
	}
	signals := make(chan os.Signal, 8) // before anything starts, so that no signal is missed
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer signal.Stop(signals)

	logs := newLogging(a.err)
	d := &daemon{app: a, logs: logs, log: logs.logger(), signals: signals, file: file, args: args}
	return d.run(ctx)
}

func (a *app) runFlags(fs *flag.FlagSet) {
	fs.BoolVar(&a.resume, "resume", false, "when the configuration is wrong, run the last good revision until it is right")
}

// daemon is one run of the system.
type daemon struct {
	*app
	file    string
	args    []string // that name it
	logs    *logging
	log     *slog.Logger
	signals chan os.Signal
	top     *topology.Topology
	sys     *runtime.System
	losses  *losses
}

func (d *daemon) run(ctx context.Context) int {
	begun := time.Now()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	plugins := &plugins{log: d.log}
	src, err := d.source(d.args, plugins)
	if err != nil {
		return d.fail(err)
	}
	started := make(chan error, 1)
	go func() { // owned by the select below, which waits for it
		d.top, err = topology.Start(ctx, src, topology.Options{Log: d.log, Configure: d.configure, Attach: func(sys *runtime.System) { d.attach(sys); plugins.attach(sys) }, Env: d.env, Resume: d.resume})
		started <- err
	}()
	for {
		select {
		case err := <-started:
			if err != nil {
				return d.startFailed(err)
			}
			d.sys = d.top.System()
			return d.serve(ctx, begun)
		case s := <-d.signals:
			if s != syscall.SIGHUP {
				cancel(fmt.Errorf("%s during the start", s))
			}
		}
	}
}

func (d *daemon) startFailed(err error) int {
	d.logs.release()
	var wrong hocon.Errors
	if errors.As(err, &wrong) {
		return d.fail(err)
	}
	fmt.Fprintf(d.err, "actord: %v\n", err)
	return ExitInvalid
}

// serve keeps the system running until a signal or a failure past the top.
func (d *daemon) serve(ctx context.Context, begun time.Time) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server, err := d.control(ctx)
	if err != nil {
		d.log.Warn("no command can reach this daemon", "err", err)
	}
	d.greet(begun)
	watched := make(chan struct{})
	go func() { // owned by watched, which shutdown waits for
		defer close(watched)
		d.top.Run(ctx)
	}()
	for {
		select {
		case s := <-d.signals:
			if s == syscall.SIGHUP {
				d.top.Trigger(topology.Request{By: "SIGHUP", Force: true})
				continue
			}
			d.log.Info("shutting down", "signal", s.String())
			cancel()
			<-watched
			d.hangUp(server)
			return d.shutdown(ExitOK)
		case err := <-d.sys.Failed():
			d.log.Error("shutting down: the system failed", "err", err)
			cancel()
			<-watched
			d.hangUp(server)
			return d.shutdown(ExitFailed)
		}
	}
}

// hangUp answers the commands that are waiting and takes no more.
func (d *daemon) hangUp(server *control.Server) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := server.Close(ctx); err != nil {
		d.log.Warn("a command was cut off", "err", err)
	}
}

// again is how much later a signal is another one: what sends a signal to a whole
// group of processes sends it twice to some.
const again = 200 * time.Millisecond

// shutdown ends the system in order; a second signal ends the process at once.
func (d *daemon) shutdown(code int) int {
	limit := shutdownLimit
	if current, _ := d.top.Current(); current != nil {
		limit += current.Spec.Shutdown.Total()
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	begun, done := time.Now(), make(chan error, 1)
	go func() { done <- d.top.Stop(ctx) }()
	for {
		select {
		case err := <-done:
			d.losses.close()
			if err != nil {
				d.log.Error("shutdown was not complete", "err", err)
				return ExitForced
			}
			d.log.Info("stopped", "took", time.Since(begun).Round(time.Millisecond))
			return code
		case s := <-d.signals:
			if s != syscall.SIGHUP && time.Since(begun) > again {
				d.log.Warn("shutdown forced by a second signal", "signal", s.String())
				return ExitForced
			}
		}
	}
}

// configure takes over the settings that concern the process.
func (d *daemon) configure(s *spec.System) { d.logs.set(s.Log) }

// source is the configuration with everything that it may name.
func (a *app) source(args []string, p *plugins) (topology.Source, error) {
	file, err := a.file(args)
	if err != nil {
		return topology.Source{}, err
	}
	reg, err := a.registry()
	if err != nil {
		return topology.Source{}, err
	}
	if _, err := os.Stat(file); errors.Is(err, os.ErrNotExist) {
		return topology.Source{}, fmt.Errorf("%s is not there; name a configuration with --config FILE or $ACTORD_CONFIG, or run actord where an application.conf is", file)
	}
	p.remember = a.remember
	return topology.Source{
		File: file, Registry: reg, Open: p.open,
		Options: hocon.Options{Env: a.env, Overrides: a.overrides, Overlays: a.overlays},
	}, nil
}

// absolute shows a file the way a person can open it from anywhere.
func absolute(file string) string {
	if abs, err := filepath.Abs(file); err == nil {
		return abs
	}
	return file
}
