// Package actord is the daemon: it wires the engine, the topology, the built-in
// behaviours and the plugins together behind one command line.
//
// The command cmd/actord is a call of Main. A team that wants its own behaviours
// compiled in writes its own main and adds them:
//
//	func main() { os.Exit(actord.Main(os.Args[1:], actord.WithBehaviour(mine.Factory()))) }
package actord
