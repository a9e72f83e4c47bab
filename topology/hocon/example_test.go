package hocon_test

import (
	"fmt"

	"github.com/actord/actord/topology/hocon"
)

func ExampleParse() {
	text := `
defaults { mailbox { capacity = 1000, overflow = drop-head } }
actors.intake = ${defaults} { mailbox.capacity = many }
`
	tree, err := hocon.Parse("application.conf", []byte(text), hocon.Options{})
	if err != nil {
		fmt.Print(hocon.Format(err))
		return
	}
	capacity := tree.Lookup("actors", "intake", "mailbox", "capacity")
	if _, err := capacity.Int(); err != nil {
		fmt.Print(hocon.Format(capacity.Wrap(err)))
	}
	overflow := tree.Lookup("actors", "intake", "mailbox", "overflow")
	fmt.Println(overflow.Text, "stands at", overflow.Pos, "and came by", overflow.Via)
	// Output:
	// application.conf:3:50: actors.intake.mailbox.capacity: "many" is not a number (want a count, e.g. 1000)
	//     actors.intake = ${defaults} { mailbox.capacity = many }
	//                                                      ^
	// drop-head stands at application.conf:2:50 and came by [application.conf:3:17]
}

func ExampleFormat() {
	_, err := hocon.Parse("application.conf", []byte("mailbox { capacity = 10 }\nlimit = ${mailbox.capcity}\n"), hocon.Options{})
	fmt.Print(hocon.Format(err))
	// Output:
	// application.conf:2:9: limit: ${mailbox.capcity} has no value, neither here nor in the environment (did you mean ${mailbox.capacity}?)
	//     limit = ${mailbox.capcity}
	//             ^
}
