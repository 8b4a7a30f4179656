package rpc

import (
	"context"
	"errors"

	"drawbridge/bridge"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
)

// requestFailed is LSP's code for a request that was right and could not be done.
const requestFailed = jsonrpc2.Code(protocol.LSPErrorCodesRequestFailed)

// Kinds of error that only this package knows.
const (
	kindInvalidParams   = bridge.KindInvalidParams
	kindProtocolVersion = "protocol_version"
	kindNotInitialized  = "not_initialized"
	kindShutDown        = "shut_down"
	kindCancelled       = "cancelled"
	kindTimeout         = "timeout"
)

// toError gives an error its code and data. It is the one place where errors become responses: the library answers any other
// error with code 0.
func toError(err error) *jsonrpc2.Error {
	var coded *jsonrpc2.Error
	var failed *bridge.Error
	switch {
	case errors.As(err, &coded):
		return coded
	case errors.As(err, &failed):
		return &jsonrpc2.Error{Code: codeOf(failed.Kind), Message: failed.Message, Data: encodeData(errorDetails{
			Kind: failed.Kind, Remedy: failed.Remedy, APIStatus: failed.APIStatus, ExitCode: failed.ExitCode, StderrTail: failed.StderrTail})}
	case errors.Is(err, context.Canceled):
		return &jsonrpc2.Error{Code: protocol.CodeRequestCancelled, Message: "The request was cancelled.",
			Data: errorData(kindCancelled, "")}
	case errors.Is(err, context.DeadlineExceeded):
		return &jsonrpc2.Error{Code: requestFailed, Message: "The request took too long.",
			Data: errorData(kindTimeout, "Try again.")}
	}
	return &jsonrpc2.Error{Code: jsonrpc2.InternalError, Message: err.Error(),
		Data: errorData(bridge.KindInternal, "This is a defect of drawbridge: please report it with the log.")}
}

func codeOf(kind string) jsonrpc2.Code {
	switch kind {
	case bridge.KindInvalidParams:
		return jsonrpc2.InvalidParams
	case bridge.KindInternal:
		return jsonrpc2.InternalError
	}
	return requestFailed
}

// failure makes an error of this package.
func failure(code jsonrpc2.Code, kind, message, remedy string) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: code, Message: message, Data: errorData(kind, remedy)}
}

func errorData(kind, remedy string) jsonrpc2.RawMessage {
	return encodeData(errorDetails{Kind: kind, Remedy: remedy})
}

// errorDetails is the data of an error: what failed and what to do about it.
type errorDetails struct {
	Kind       string   `json:"kind"`
	Remedy     string   `json:"remedy,omitempty"`
	APIStatus  int      `json:"api_status,omitempty"`
	ExitCode   *int     `json:"exit_code,omitempty"`
	StderrTail string   `json:"stderr_tail,omitempty"`
	Supported  []string `json:"supported,omitempty"` // protocol_version: the versions spoken here
}

func encodeData(d errorDetails) jsonrpc2.RawMessage {
	data, err := marshal(d)
	if err != nil {
		return nil
	}
	return data
}
