package fakeapi

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
)

func fail(args string, _ Request) (Answer, error) {
	var a Answer
	_, err := fmt.Sscan(args, &a.Status, &a.Times)
	if a.Status >= 400 && a.Status <= 599 {
		return a, nil // TIMES may be missing
	}
	return Answer{}, errors.Join(err, errors.New("no HTTP error"))
}

func broken(f Failure) func(string, Request) (Answer, error) {
	return func(args string, _ Request) (Answer, error) {
		a := say(Text("partial words here"))
		a.Fail = f
		a.Times, _ = strconv.Atoi(args) // parse has seen that it is a number or nothing
		return a, nil
	}
}

func sseerr(args string, _ Request) (Answer, error) {
	a := say(Text("partial words here"))
	a.Fail = StreamError
	_, err := fmt.Sscan(args, &a.ErrorType, &a.Times)
	if a.ErrorType != "" {
		err = nil // TIMES may be missing
	}
	return a, err
}

// errorTypes is the usual error type of each HTTP status (https://docs.anthropic.com/en/api/errors).
var errorTypes = map[int]string{
	http.StatusBadRequest:            "invalid_request_error",
	http.StatusUnauthorized:          "authentication_error",
	http.StatusForbidden:             "permission_error",
	http.StatusNotFound:              "not_found_error",
	http.StatusRequestEntityTooLarge: "request_too_large",
	http.StatusTooManyRequests:       "rate_limit_error",
	529:                              "overloaded_error",
}

func errorType(status int) string {
	if t, ok := errorTypes[status]; ok {
		return t
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}
