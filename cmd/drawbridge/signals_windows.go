package main

import "os"

// terminations are the signals that ask us to end in good order.
var terminations = []os.Signal{os.Interrupt}

func ignoreBrokenPipes() {} // writing to a closed pipe fails, and nothing more
