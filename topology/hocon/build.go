package hocon

// seat is where a node is put.
type seat struct {
	up        *Node
	key       string
	index     int
	keyAt     place
	overrides []place
	via       *chain // what the object around it came through
}

// build makes the node of a value and of all that is inside. It returns nil for
// what is undefined or broken.
func (r *resolver) build(res result, at seat) *Node {
	if res.what == undefined || res.what == broken || r.stopped {
		return nil
	}
	if r.nodes++; r.nodes > r.load.limits.Nodes {
		r.stop(at.keyAt, "", "substitutions make more than %d values", r.load.limits.Nodes)
		return nil
	}
	via := at.via.then(res.via)
	n := r.node(at)
	n.Via = via.positions()
	if res.what == isScalar {
		n.Kind, n.Text, n.Quoted, n.Pos = res.scalar.kind, res.scalar.text, res.scalar.quoted, res.scalar.at.pos()
		return n
	}
	v := res.view
	n.Pos = v.place().pos()
	if !r.enter(v, n, via) {
		return nil
	}
	if res.what == isList {
		n.Kind = Array
		r.buildElems(n, v, via)
	} else {
		n.Kind = Object
		r.buildFields(n, v, via)
	}
	r.depth--
	v.building = false
	return n
}

// node takes a node from the arena; nodes of one tree live and die together.
func (r *resolver) node(at seat) *Node {
	if len(r.arena) == 0 {
		r.arena = make([]Node, min(256, 8+r.nodes))
	}
	n := &r.arena[0]
	r.arena = r.arena[1:]
	n.up, n.tree, n.key, n.index, n.KeyPos = at.up, r.tree, at.key, at.index, at.keyAt.pos()
	for _, p := range at.overrides {
		n.Overrides = append(n.Overrides, p.pos())
	}
	return n
}

// enter goes into an array or object unless it is inside itself or too deep.
func (r *resolver) enter(v *view, n *Node, via *chain) bool {
	at := v.place()
	if via != nil {
		at = via.at
	}
	if v.building {
		r.fail(at, n.Path(), "", "the substitution leads back to the value that it is in")
		return false
	}
	if r.depth >= r.load.limits.Depth {
		r.stop(at, n.Path(), "nested more than %d levels deep", r.load.limits.Depth)
		return false
	}
	r.depth++
	v.building = true
	return true
}

func (r *resolver) buildElems(n *Node, v *view, via *chain) {
	for _, el := range v.elements() {
		res := r.evalRaw(el.value, el.env)
		kid := r.build(res, seat{up: n, index: len(n.kids), via: via.then(el.via)})
		if kid != nil {
			n.kids = append(n.kids, kid)
		}
	}
}

func (r *resolver) buildFields(n *Node, v *view, via *chain) {
	if v.only != nil {
		n.kids = make([]*Node, 0, len(v.only.fields))
		for _, s := range v.only.fields {
			r.buildField(n, s, v.env, via)
		}
	} else {
		for _, key := range v.keys() {
			s, inner, more := r.child(v, key)
			if r.stopped {
				break
			}
			r.buildField(n, s, inner, via.then(more))
		}
	}
	n.reindex()
}

func (r *resolver) buildField(n *Node, s *slot, e *env, via *chain) {
	kid := r.build(r.eval(s, e), seat{up: n, key: s.key, index: -1, keyAt: s.keyAt, overrides: s.overrides, via: via})
	if kid != nil {
		n.kids = append(n.kids, kid)
	}
}

// place is where an array or object begins; of several parts, the last one.
func (v *view) place() place {
	if v.at.src != nil || v.only != nil || len(v.parts) == 0 {
		return v.at
	}
	p := v.parts[len(v.parts)-1]
	if p.only != nil {
		return p.only.at
	}
	return p.view.place()
}
