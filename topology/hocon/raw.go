package hocon

// A raw value is what was written, before substitution: *scalar, *list, *object,
// *ref, *concat, or *link, which only the resolver makes.
type raw any

type scalar struct {
	at     place
	kind   Kind
	quoted bool
	text   string
}

type list struct {
	at    place
	elems []raw
}

// ref is a substitution ${path}.
type ref struct {
	at       place
	path     []string
	prefix   int // so many elements were put before the path by an include
	optional bool
	self     bool     // stands for the earlier value in a +=, never for the environment
	within   []string // key path of the value it stands in, for messages

	failed bool   // its mistake is reported
	seen   string // what it stood for when it was last looked at
}

// concat is values beside each other, at least one of them a substitution.
type concat struct {
	at     place
	pieces []raw
	within []string
	append bool // made by +=: the pieces are the earlier value and a list
	plain  bool // what += adds holds no substitution, so it needs no look back of its own
}

// blank is the whitespace between two pieces of a concat.
type blank struct{ scalar }

// object is fields in the order of their first appearance.
type object struct {
	at     place
	fields []*slot
	index  map[string]*slot // made when there are many fields
}

// slot is one field: the values given to it, lowest first. A value that hides
// all earlier ones is alone.
type slot struct {
	key       string
	keyAt     place
	layers    []raw
	one       [1]raw  // room for layers; most fields have one
	overrides []place // scalars of the same file that a later one replaced
	memo      *memo   // what the resolver knows
	first     *slot   // for a field put together of several objects: the lowest that was written for it
}

// origin is the same for a field however many of its values are in view.
func (s *slot) origin() *slot {
	if s.first != nil {
		return s.first
	}
	return s
}

// manyFields is where an index beats a walk.
const manyFields = 12

// find returns the field or nil.
func (o *object) find(key string) *slot {
	if o.index != nil {
		return o.index[key]
	}
	for _, s := range o.fields {
		if s.key == key {
			return s
		}
	}
	return nil
}

// slot returns the field and makes it if it is new.
func (o *object) slot(key string, at place) *slot {
	s := o.find(key)
	if s == nil {
		s = &slot{key: key, keyAt: at}
		o.adopt(s)
	}
	return s
}

func (o *object) adopt(s *slot) {
	o.fields = append(o.fields, s)
	switch {
	case o.index != nil:
		o.index[s.key] = s
	case len(o.fields) > manyFields:
		o.index = make(map[string]*slot, 2*len(o.fields))
		for _, f := range o.fields {
			o.index[f.key] = f
		}
	}
}

// merge puts the fields of a later object over those of o.
func (o *object) merge(later *object) {
	for _, s := range later.fields {
		mine := o.find(s.key)
		if mine == nil {
			o.adopt(s)
			continue
		}
		for _, v := range s.layers {
			mine.push(v, s.keyAt)
		}
		mine.overrides = append(mine.overrides, s.overrides...)
	}
}

// object returns the object on top of the field's values, a new one if there is none.
func (s *slot) object(at place) *object {
	if n := len(s.layers); n > 0 {
		if o, ok := s.layers[n-1].(*object); ok {
			s.touch(at)
			return o
		}
	}
	o := &object{at: at}
	s.push(o, at)
	return o
}

// touch moves the key's place to another file that adds to an object, so that a
// message names the file that came last.
func (s *slot) touch(at place) {
	if s.keyAt.src != at.src {
		s.keyAt = at
	}
}

// push gives the field one more value.
func (s *slot) push(v raw, at place) {
	if o, ok := v.(*object); ok && len(s.layers) > 0 {
		s.touch(at)
		switch top := s.layers[len(s.layers)-1].(type) {
		case *object:
			top.merge(o)
			return
		case *scalar, *list:
			s.only(v)
			return
		}
		s.layers = append(s.layers, v)
		return
	}
	s.keyAt = at
	switch v := v.(type) {
	case *scalar:
		s.replaced(v.at.src)
		s.only(v)
	case *list:
		s.only(v)
	default:
		s.add(v)
	}
}

// only hides all earlier values.
func (s *slot) only(v raw) {
	s.one[0] = v
	s.layers = s.one[:1]
}

func (s *slot) add(v raw) {
	if len(s.layers) == 0 {
		s.only(v)
		return
	}
	if c, ok := v.(*concat); ok && c.append && c.plain {
		added := c.pieces[1].(*list)
		switch top := s.layers[len(s.layers)-1].(type) {
		case *list:
			top.elems = append(top.elems, added.elems...)
			return
		case *concat:
			if top.append {
				earlier := top.pieces[1].(*list)
				earlier.elems = append(earlier.elems, added.elems...)
				return
			}
		}
	}
	s.layers = append(s.layers, v)
}

// replaced notes the scalars of the same file that a new one hides.
func (s *slot) replaced(src *source) {
	for _, v := range s.layers {
		if old, ok := v.(*scalar); ok && old.at.src == src {
			s.overrides = append(s.overrides, old.at)
		}
	}
}
