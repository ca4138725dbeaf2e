// ONNX's own tests of single ops, as in ONNX's Python package: test_NAME/model.onnx next to test_data_set_N/input_M.pb
// and output_M.pb. Vectors written by others.
#pragma once

#include <functional>
#include <string>

#include "backend/backend.h"
#include "conformance/report.h"
#include "conformance/run.h"

namespace headscope::conformance {

struct NodeTests {
    std::string folder;
    std::string name_text = {};  // part of the names of tests; empty for all
    std::function<void(const Doing& doing)> progress = {};
    std::function<bool()> stop_requested = [] { return false; };  // after the current test, as in Plan
};

// A result for each test of an op that we have (run, failed, or skipped with its reason), and one for each other op
// with the number of its tests. Tolerances: F32 1e-6 of the largest value plus 1e-5 of the element, F16 100 times and
// BF16 1,600 times as much (one step of F16, two of BF16, whose scores and weights are rounded on both sides); ONNX
// allows 1e-3 of the element. Error if the folder has no test, or none of that name. A missing or unreadable file fails
// its test.
DeviceReport run_onnx_node_tests(const NodeTests& tests, Backend& device);

}  // namespace headscope::conformance
