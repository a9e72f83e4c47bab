package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/actord/actord/runtime/actor"
)

// Pool makes one address of several actors: the actor at the address has Size
// routees below it, called routee-1, routee-2 …, each with an instance, a mailbox
// and a life of its own. Senders reach the routees directly. A nil Pool, or one
// that starts with a Size of 1, is a plain actor.
type Pool[T any] struct {
	Size     int // at least 1
	Strategy Strategy
	// Key is what ConsistentHash goes by: messages with the same key meet the same
	// routee while it lives; those with the key "" take turns. It runs on the
	// sender's goroutine, so it must be safe for concurrent use and quick.
	Key func(m T, sender actor.Ref) string
}

// MaxRoutees bounds the size of a pool.
const MaxRoutees = 10_000

// Check reports what is wrong with the pool; nil for a nil Pool.
func (p *Pool[T]) Check() error {
	switch {
	case p == nil:
		return nil
	case p.Size < 1 || p.Size > MaxRoutees:
		return fmt.Errorf("pool: size %d is not from 1 to %d", p.Size, MaxRoutees)
	}
	if err := p.Strategy.check(p.Key != nil); err != nil {
		return fmt.Errorf("pool: %w", err)
	}
	return nil
}

// many tells whether an actor that starts with p is a pool.
func (p *Pool[T]) many() bool { return p != nil && p.Size > 1 }

// pool is a running Pool.
type pool[T any] struct {
	home *cell[T] // at the address
	turn atomic.Uint64
	fan  atomic.Pointer[fan[T]] // of the routees that take messages

	mu      sync.Mutex // guards what follows; taken before any node's mu
	conf    Pool[T]
	props   *Props[T]   // of the routees
	first   Receiver[T] // instance of the next routee; nil for a new one
	routees []*routee[T]
}

// routee is one place in a pool, or one that was given up and still works off
// its queue.
type routee[T any] struct {
	pid     *PID[T]
	node    *node
	leaving bool
}

// routeeName is the name of the i-th place, from 0.
func routeeName(i int) string { return fmt.Sprintf("routee-%d", i+1) }

// newPool makes a pool at home that has no routees yet; see reconcile.
func newPool[T any](home *cell[T], conf Pool[T], props *Props[T]) *pool[T] {
	own := *props
	own.Pool, own.running, own.base = nil, nil, home.path
	p := &pool[T]{home: home, conf: conf, props: &own}
	p.spread()
	return p
}

// spread publishes who takes messages; mu is held, or nobody else knows p.
func (p *pool[T]) spread() {
	var to []*PID[T]
	for _, r := range p.routees {
		if r != nil && !r.leaving {
			to = append(to, r.pid)
		}
	}
	base := fan[T]{
		sys: p.home.sys, path: p.home.path, strategy: p.conf.Strategy, key: p.conf.Key, turn: &p.turn, lenient: true,
	}
	p.fan.Store(base.withTo(to))
}

// reconcile makes the routees what the size says: it starts those that are
// missing and lets the highest-numbered that are too many work off what they have.
// A place whose former owner is still working is filled when that one has ended.
// Routees that stay are not touched.
func (p *pool[T]) reconcile() (hired []*node, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var leaving []*node
	var errs []error
	for i := range max(p.conf.Size, len(p.routees)) {
		if i == len(p.routees) {
			p.routees = append(p.routees, nil)
		}
		switch r := p.routees[i]; {
		case i >= p.conf.Size && r != nil:
			if !r.leaving {
				leaving = append(leaving, r.node)
			}
			r.leaving = true
		case i < p.conf.Size && r == nil:
			n, err := p.hire(i)
			errs = append(errs, err)
			if n != nil {
				hired = append(hired, n)
			}
		}
	}
	p.spread() // before they drain, so that nobody is sent to a closing mailbox
	for _, n := range leaving {
		n.retire()
	}
	return hired, errors.Join(errs...)
}

// hire starts the i-th routee; mu is held.
func (p *pool[T]) hire(i int) (*node, error) {
	n, err := spawn(p.home.sys, &p.home.node, routeeName(i), true, p.nextProps())
	if err != nil {
		return nil, err
	}
	c := n.body.(*cell[T])
	c.countExactly(p.conf.Strategy == SmallestMailbox)
	pid := &PID[T]{sys: n.sys, path: n.path}
	pid.cell.Store(c)
	p.routees[i] = &routee[T]{pid: pid, node: n}
	if !n.watch(p) {
		p.routees[i] = nil
	}
	return n, nil
}

// nextProps is what the next routee is made of; mu is held.
func (p *pool[T]) nextProps() *Props[T] {
	first := p.first
	if first == nil {
		return p.props
	}
	p.first = nil
	props, produce := *p.props, p.props.New
	props.New = func() (Receiver[T], error) { // runs on the routee's turn
		if r := first; r != nil {
			first = nil
			return r, nil
		}
		return produce()
	}
	return &props
}

// terminated takes a routee off the list that has ended, whatever it ended of.
// Its place is filled when it was given up and is wanted again by now; a routee
// that supervision ended stays away until the pool is told its size anew.
func (p *pool[T]) terminated(n *node) {
	p.mu.Lock()
	again := false
	for i, r := range p.routees {
		if r != nil && r.node == n {
			again = r.leaving && i < p.conf.Size
			p.routees[i] = nil
		}
	}
	for len(p.routees) > 0 && p.routees[len(p.routees)-1] == nil {
		p.routees = p.routees[:len(p.routees)-1]
	}
	p.spread()
	p.mu.Unlock()
	if again {
		if _, err := p.reconcile(); err != nil && !p.home.ending() {
			p.home.log().Error("a routee did not start", "err", err)
		}
	}
}

// retire ends a routee behind its queue, at last when its stop-timeout is over.
func (n *node) retire() {
	limit := n.settings.Load().StopTimeout
	if limit <= 0 {
		limit = DefaultStopTimeout
	}
	n.stopBehindQueue()
	n.sys.timers.after(limit, 0, func() {
		if !n.is(terminated) {
			n.signal(signal{kind: sigStopNow})
		}
	})
}

// resize changes size, strategy and key.
func (p *pool[T]) resize(conf Pool[T]) ([]*node, error) {
	p.mu.Lock()
	p.conf = conf
	for _, r := range p.routees {
		if r != nil {
			r.node.body.(*cell[T]).countExactly(conf.Strategy == SmallestMailbox)
		}
	}
	p.mu.Unlock()
	return p.reconcile()
}

// cells are the routees that take messages.
func (p *pool[T]) cells() []*cell[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []*cell[T]
	for _, r := range p.routees {
		if r != nil && !r.leaving {
			out = append(out, r.node.body.(*cell[T]))
		}
	}
	return out
}

// change applies f to what new routees are made of.
func (p *pool[T]) change(f func(*Props[T])) {
	p.mu.Lock()
	defer p.mu.Unlock()
	props := *p.props
	f(&props)
	p.props = &props
}

// countExactly makes the length of the actor's queue exact at any time, for those who
// compare queues.
func (c *cell[T]) countExactly(on bool) {
	c.mu.Lock()
	c.counted = on
	c.mu.Unlock()
}

// distributor is the instance at a pool's address. It hands on what reached the
// address while there were no routees yet; what comes later goes past it.
type distributor[T any] struct{ pool *pool[T] }

// Start lets senders reach the routees directly, when nothing is queued here.
func (d *distributor[T]) Start(*Context[T]) error {
	d.open()
	return nil
}

// Receive hands a message on with its sender and its trace. It does not wait: a
// message that no routee takes is a dead letter.
func (d *distributor[T]) Receive(ctx *Context[T], _ T) error {
	env := ctx.env
	env.meta.track().Join()
	if _, err := d.pool.fan.Load().tell(noWait(), env); err != nil {
		reason := actor.ReasonFull
		if errors.Is(err, actor.ErrStopped) {
			reason = actor.ReasonStopped
		}
		releaseAsker(env.sender, err)
		d.pool.home.sys.deadLetter(d.pool.home.path, env.sender, env.msg, reason, env.meta)
		env.meta.track().Done(nil)
	}
	d.open()
	return nil
}

// noWait returns a context in which nothing is waited for.
func noWait() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// open sends everybody past the address once its own queue is empty, so that no
// message overtakes another.
func (d *distributor[T]) open() {
	c := d.pool.home
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.queue.Len() > 0 || (c.batch != nil && c.batch.Len() > 0) {
		return
	}
	r := c.ranker.Load()
	switch {
	case r == nil:
		c.ranker.Store(&ranker[T]{pool: d.pool})
	case r.pool == nil:
		c.ranker.Store(&ranker[T]{rank: r.rank, log: r.log, pool: d.pool})
	}
}

// tell gives env to the routees; see fan.
func (p *pool[T]) tell(ctx context.Context, env envelope[T]) (*cell[T], error) {
	to, err := p.fan.Load().tell(ctx, env)
	if to == nil {
		to = p.home
	}
	return to, err
}

func (p *pool[T]) offer(ctx context.Context, env envelope[T]) (*cell[T], actor.OfferResult) {
	to, res := p.fan.Load().offer(ctx, env)
	if to == nil {
		to = p.home
	}
	return to, res
}
