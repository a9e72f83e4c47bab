package hocon

// env is a list of fields of which only the lowest values are visible.
type env struct {
	up    *env
	slot  *slot
	limit int
	memos map[*slot]*memo
	next  map[cut]*env // the envs made of this one: one per cut, so that they share what they find
	above result       // what the value right above the cut turned out to be
}

// cut hides the values of a field from a height on.
type cut struct {
	slot  *slot
	limit int
}

// below returns e with only the values of s below i visible.
func (r *resolver) below(e *env, s *slot, i int) *env {
	if e == nil {
		e = r.base
	}
	s = s.origin()
	if e.slot == s {
		e = e.up
	}
	s.know().limited = true
	c := cut{s, i}
	inner := e.next[c]
	if inner == nil {
		if e.next == nil {
			e.next = map[cut]*env{}
		}
		inner = &env{up: e, slot: s, limit: i}
		e.next[c] = inner
	}
	return inner
}

// visible returns how many values of s can be seen in e.
func (r *resolver) visible(s *slot, e *env) int {
	origin := s.origin()
	if e == nil || origin.memo == nil || !origin.memo.limited {
		return len(s.layers)
	}
	hops := 0
	for ; e != nil; e = e.up {
		if e.slot == origin {
			return min(e.limit, len(s.layers))
		}
		if hops++; hops%8 == 0 {
			r.steps++
		}
	}
	return len(s.layers)
}

// memo is what is known of a field in one env.
type memo struct {
	limited bool // some env hides values of the field; kept in slot.memo
	free    bool // the result is the same in every env
	stacked bool // the result depends on a field with several values
	done    bool
	busy    int // level at which the field is being looked at, 0 if it is not
	result  result
}

func (s *slot) know() *memo {
	if s.memo == nil {
		s.memo = &memo{}
	}
	return s.memo
}

func (e *env) memo(s *slot) *memo {
	if e == nil {
		return s.know()
	}
	if m := s.memo; m != nil && m.free && m.done {
		return m
	}
	m := e.memos[s]
	if m == nil {
		if e.memos == nil {
			e.memos = map[*slot]*memo{}
		}
		m = &memo{}
		e.memos[s] = m
	}
	return m
}
