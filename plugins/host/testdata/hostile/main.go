// A plugin for the tests of the host that speaks nonsense.
package main

import (
	"context"
	"os"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/actord/actord/plugins/wire"
)

func main() {
	plugin.Serve(&plugin.ServeConfig{
		HandshakeConfig:  plugin.HandshakeConfig{MagicCookieKey: wire.CookieKey, MagicCookieValue: wire.CookieValue},
		VersionedPlugins: map[int]plugin.PluginSet{1: {wire.ServiceSet: &registration{}}},
		GRPCServer:       plugin.DefaultGRPCServer,
	})
}

type registration struct {
	plugin.NetRPCUnsupportedPlugin
	plugin.GRPCPlugin
}

func (*registration) GRPCServer(_ *plugin.GRPCBroker, g *grpc.Server) error {
	wire.RegisterActorPluginServer(g, &server{mode: os.Getenv("TEST_MODE")})
	return nil
}

type server struct {
	wire.UnimplementedActorPluginServer
	mode string
}

func (s *server) Describe(context.Context, *wire.DescribeRequest) (*wire.Manifest, error) {
	schema := `{"type":"object","properties":{}}`
	if s.mode == "schema" {
		schema = `{"type":"objec`
	}
	return &wire.Manifest{Name: "hostile", Behaviours: []*wire.Behaviour{{Name: "any", ArgsSchema: []byte(schema)}}}, nil
}

func (s *server) Check(context.Context, *wire.CheckRequest) (*wire.CheckResponse, error) {
	return &wire.CheckResponse{}, nil
}

// Session answers every call, and then says what the mode wants.
func (s *server) Session(st grpc.BidiStreamingServer[wire.HostFrame, wire.PluginFrame]) error {
	for {
		f, err := st.Recv()
		if err != nil {
			return err
		}
		var call uint64
		switch f := f.Frame.(type) {
		case *wire.HostFrame_Spawn:
			call = f.Spawn.Call
		case *wire.HostFrame_Start:
			call = f.Start.Call
		case *wire.HostFrame_Deliver:
			if err := st.Send(s.nonsense()); err != nil {
				return err
			}
		}
		if call != 0 {
			if err := st.Send(&wire.PluginFrame{Frame: &wire.PluginFrame_Result{Result: &wire.Result{Call: call}}}); err != nil {
				return err
			}
		}
	}
}

func (s *server) nonsense() *wire.PluginFrame {
	junk := []byte("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
	switch s.mode {
	case "ack":
		return &wire.PluginFrame{Frame: &wire.PluginFrame_Ack{Ack: &wire.Ack{Packed: junk}}}
	case "future-ack":
		return &wire.PluginFrame{Frame: &wire.PluginFrame_Ack{Ack: &wire.Ack{Packed: wire.AppendAck(nil, 1, 1<<40)}}}
	case "command":
		return &wire.PluginFrame{Frame: &wire.PluginFrame_Commands{Commands: &wire.Commands{Packed: junk}}}
	case "body":
		packed := wire.AppendCommand(nil, &wire.Command{Op: wire.OpTell, Inst: 1, Target: "/user/x", Body: []byte{0xff}})
		return &wire.PluginFrame{Frame: &wire.PluginFrame_Commands{Commands: &wire.Commands{Packed: packed}}}
	case "failure":
		return &wire.PluginFrame{Frame: &wire.PluginFrame_Failure{Failure: &wire.Failure{Inst: 1, Seq: 1 << 50}}}
	default:
		return &wire.PluginFrame{}
	}
}
