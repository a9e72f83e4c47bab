// Package wire is what the daemon and a plugin process say to each other: the
// gRPC service of plugin.proto, the packed frames that carry messages, and the
// handshake. It knows neither actors nor processes; plugins/host and plugins/sdk
// are its two ends.
//
// Messages travel in packed frames rather than as one protobuf message each: a
// frame of hundreds costs a single allocation on either side. A body is CBOR
// (RFC 8949), which keeps integers, floating-point numbers, texts and bytes
// apart and has a library in every language.
//
// To change the protocol edit plugin.proto and run go generate with protoc 3.21,
// protoc-gen-go 1.36.12 and protoc-gen-go-grpc 1.6.2 in PATH. A change that an
// older plugin would misread needs a new ProtocolVersion.
package wire

//go:generate protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative plugin.proto

// The handshake: a plugin starts only when its environment holds the cookie, and
// host and plugin agree on a protocol version.
const (
	CookieKey       = "ACTORD_PLUGIN"
	CookieValue     = "b4b7a3a1-5a52-4d3f-9c53-6a1fd0c2f1c7"
	ProtocolVersion = 1
	ServiceSet      = "actord" // the name of the service in go-plugin's plugin set
)

// Limits of the transport. A frame is sent when it has MaxBatch messages or
// MaxBatchBytes bytes, or when there is nothing more to say.
const (
	MaxBatch      = 256
	MaxBatchBytes = 256 << 10
	MaxFrame      = 64 << 20 // what either side accepts at most
	MaxBody       = 32 << 20 // of one message or state, so that it fits into a frame with others
)
