// ONNX's own tests of single ops, as a folder of them lies in ONNX's Python package: test_NAME/model.onnx beside
// test_data_set_N/input_M.pb and output_M.pb. Vectors that others wrote.
#pragma once

#include <functional>
#include <string>

#include "backend/backend.h"
#include "conformance/report.h"
#include "conformance/run.h"

namespace headscope::conformance {

struct NodeTests {
    std::string folder;
    std::string name_text = {};  // what the names of tests hold; empty for all
    std::function<void(const Doing& doing)> progress = {};
    std::function<bool()> stop_requested = [] { return false; };  // after the test at hand, as Plan has it
};

// A result for every test of an op that we have, run, failed or skipped with its reason; and one for each other op,
// with how many tests there are. Results may be off by what their type allows (F32: 1e-6 of the largest value, and 1e-5
// of their own; F16 100 times as much, BF16 1,600 times: one step of F16, two of BF16, whose scores and weights are
// rounded on both sides), where ONNX allows 1e-3 of their own. Error where the folder holds no test, or none of that
// name; a file that cannot be read, or is not there, fails its test.
DeviceReport run_onnx_node_tests(const NodeTests& tests, Backend& device);

}  // namespace headscope::conformance
