// ONNX's own tests of single ops, as a folder of them lies in ONNX's Python package: test_NAME/model.onnx beside
// test_data_set_N/input_M.pb and output_M.pb. Vectors that others wrote.
#pragma once

#include <functional>
#include <string>

#include "backend/backend.h"
#include "conformance/report.h"

namespace headscope::conformance {

// A result for every test of an op that we have, run, failed or skipped with its reason; and one for each other op,
// with how many tests there are. Results may be off by what their type allows (F32: 1e-6 of the largest value, and 1e-5
// of their own; 16-bit types 100 times as much), where ONNX allows 1e-3 of their own. Error where the folder holds no
// test; a file that cannot be read fails its test.
DeviceReport run_onnx_node_tests(const std::string& folder, Backend& device,
                                 const std::function<void(const std::string&)>& progress = {});

}  // namespace headscope::conformance
