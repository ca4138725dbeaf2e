// translate TEXT: translates a text by the C library.
//
//	CGO_LDFLAGS=-lheadscope go run translate.go TEXT
package main

/*
#include <stdlib.h>

#include <headscope/headscope.h>
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"
)

func text(from string) (C.hs_text, func()) {
	data := C.CString(from)
	return C.hs_text{data: data, size: C.size_t(len(from))}, func() { C.free(unsafe.Pointer(data)) }
}

func copied(from C.hs_text) string {
	return C.GoStringN(from.data, C.int(from.size))
}

func translate(line string) (string, error) {
	var engine *C.hs_engine
	var model *C.hs_model
	var request *C.hs_request
	var result *C.hs_result
	var failure *C.hs_error
	place, freePlace := text("en-de")
	defer freePlace()
	input, freeInput := text(line)
	defer freeInput()
	ok := C.hs_engine_open(C.HS_ABI, nil, nil, nil, &engine, &failure) == C.HS_OK
	defer func() { C.hs_engine_close(engine) }()
	ok = ok && C.hs_model_open(engine, &place, 1, nil, &model, &failure) == C.HS_OK
	defer func() { C.hs_model_close(model) }()
	ok = ok && C.hs_submit(model, C.HS_TRANSLATE, &input, nil, 1, nil, &request, &failure) == C.HS_OK
	defer func() { C.hs_request_free(request) }()
	ok = ok && C.hs_request_wait(request, -1, &result, &failure) == C.HS_OK
	defer func() { C.hs_result_free(result) }()
	defer func() { C.hs_error_free(failure) }()
	if !ok {
		return "", errors.New(copied(C.hs_error_message(failure)))
	}
	if problem := copied(C.hs_result_problem(result, 0)); problem != "" {
		return "", errors.New(problem)
	}
	return copied(C.hs_result_text(result, 0, 0)), nil
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: translate TEXT")
		os.Exit(2)
	}
	translation, err := translate(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(translation)
}
