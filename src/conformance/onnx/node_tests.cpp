#include "conformance/onnx/node_tests.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <system_error>

#include "conformance/onnx/node_ops.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/shell_quoted.h"

namespace headscope::conformance {

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Folders with a test, or named like one but without one, which counts as a failure.
std::vector<fs::path> tests_in(const std::string& folder) {
    std::vector<fs::path> found;
    bool holds_models = false;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
        std::error_code ignored;
        const bool has_model = fs::exists(entry->path() / "model.onnx", ignored);
        const bool is_named = entry->path().filename().string().starts_with("test_");
        if (has_model || (is_named && fs::is_directory(entry->path(), ignored))) {
            found.push_back(entry->path());
        }
        holds_models = holds_models || has_model;
    }
    if (error) {
        throw Error(fmt::format("cannot read the folder '{}': {}", folder, error.message()));
    }
    if (!holds_models) {
        throw Error(
            fmt::format("'{}' holds no node test of ONNX's: expected folders with a model.onnx and "
                        "test_data_set_0, as in onnx/backend/test/data/node of ONNX's Python package",
                        folder));
    }
    std::sort(found.begin(), found.end());
    return found;
}

// Those whose names contain the text.
std::vector<fs::path> tests_of(const NodeTests& wanted) {
    constexpr std::ptrdiff_t kFew = 3;
    const std::vector<fs::path> all = tests_in(wanted.folder);
    std::vector<fs::path> found;
    std::string few;
    for (const fs::path& test : all) {
        const std::string name = test.filename().string();
        if (name.find(wanted.name_text) != std::string::npos) {
            found.push_back(test);
        }
        if (&test - all.data() < kFew) {
            few += (few.empty() ? "" : ", ") + name;
        }
    }
    if (found.empty()) {
        throw Error(fmt::format("no test in '{}' is called \"{}\"; it has {}, such as: {}", wanted.folder,
                                wanted.name_text, counted(all.size(), "test"), few));
    }
    return found;
}

std::vector<fs::path> data_sets_of(const fs::path& test) {
    std::vector<fs::path> found;
    for (int index = 0;; ++index) {
        fs::path folder = test / fmt::format("test_data_set_{}", index);
        std::error_code ignored;
        if (!fs::exists(folder, ignored)) {
            break;
        }
        found.push_back(std::move(folder));
    }
    if (found.empty()) {
        throw Error(fmt::format("'{}' has no test_data_set_0", test.string()));
    }
    return found;
}

// The files input_0.pb.. or output_0.pb.., by the graph's names for them.
std::map<std::string, OnnxTensor> read_named(const fs::path& folder, const char* kind,
                                             const std::vector<std::string>& names) {
    std::map<std::string, OnnxTensor> tensors;
    for (std::size_t index = 0; index < names.size(); ++index) {
        tensors[names[index]] = read_onnx_tensor((folder / fmt::format("{}_{}.pb", kind, index)).string());
    }
    return tensors;
}

Tolerance tolerance_of(OnnxType type) {
    const double wider = type == OnnxType::Bfloat16 ? 1600.0 : type == OnnxType::Float16 ? 100.0 : 1.0;
    return {1e-5 * wider, 1e-6 * wider, "of its own value, and of the largest: others rounded these vectors, too"};
}

// The distance of `got` from a file's tensor; a complaint if too large.
std::string compare(const OnnxTensor& expected, const std::vector<double>& got, Closeness& closeness) {
    if (got.size() != expected.values.size()) {
        return fmt::format("{}: expected {} values, got {}", expected.name, expected.values.size(), got.size());
    }
    double largest = 0.0;
    double squares = 0.0;
    for (const double value : expected.values) {
        largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : largest;
        squares += std::isfinite(value) ? value * value : 0.0;
    }
    const Tolerance tolerance = tolerance_of(expected.type);
    Closeness found;
    double error_squares = 0.0;
    std::string complaint;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const double wanted = expected.values[i];
        if (got[i] == wanted || (std::isnan(got[i]) && std::isnan(wanted))) {
            continue;
        }
        const double error = std::abs(got[i] - wanted);
        const double bound = tolerance.tensor * largest + tolerance.element * std::abs(wanted);
        const bool fits = std::isfinite(error) && error <= bound;  // infinities must be equal
        if (!fits && complaint.empty()) {
            complaint = fmt::format("{}[{}]: expected {:.9g}, got {:.9g}", expected.name, i, wanted, got[i]);
        }
        if (std::isfinite(error)) {
            error_squares += error * error;
            found.of_bound = std::max(found.of_bound, error / bound);  // infinite if no error is allowed
            found.worst_relative = std::max(found.worst_relative, error / largest);
        } else {
            found = {.of_bound = kInfinity, .worst_relative = kInfinity, .nmse = 0.0};
            error_squares = kInfinity;
        }
    }
    found.nmse = squares > 0.0 ? error_squares / squares : error_squares;
    closeness.widen(found);
    return complaint;
}

void run_data_set(Backend& device, const OnnxModel& model, const fs::path& folder, Result& result) {
    const OnnxNode& node = model.nodes.front();
    const auto given = read_named(folder, "input", model.inputs);
    const auto expected = read_named(folder, "output", model.outputs);
    NodeCall call{.node = node, .opset = model.opset, .inputs = {}};
    for (const std::string& name : node.inputs) {
        const auto found = given.find(name);
        call.inputs.push_back(found == given.end() ? std::nullopt : std::optional(found->second));
    }
    const std::vector<std::vector<double>> outputs = run_node(device, call);
    ++result.runs;
    std::size_t compared = 0;
    bool fails = false;
    for (std::size_t index = 0; index < node.outputs.size(); ++index) {
        const auto wanted = expected.find(node.outputs[index]);
        if (wanted == expected.end()) {
            continue;
        }
        ++compared;
        result.tolerance = tolerance_of(wanted->second.type);
        const std::vector<double> got = index < outputs.size() ? outputs[index] : std::vector<double>{};
        if (const std::string complaint = compare(wanted->second, got, result.closeness); !complaint.empty()) {
            result.complaints.push_back(fmt::format("{}: {}: {}", device.device().id, result.group, complaint));
            fails = true;
        }
    }
    result.failed_runs += fails ? 1 : 0;
    if (compared == 0) {
        throw Error("its model has no output that its node writes: nothing was compared");
    }
}

void skip(Result& result, const std::string& why) {
    result.level = SupportLevel::None;
    ++result.skipped[why];
}

Result run_test(Backend& device, const OnnxModel& model, const fs::path& test) {
    Result result{.op = "onnx " + model.nodes.front().op,
                  .family = "onnx",
                  .group = test.filename().string(),
                  .says = test.filename().string(),
                  .precision = "f32",
                  .path = "",
                  .cases = 1};
    const auto begin = Clock::now();
    try {
        const std::vector<fs::path> sets = data_sets_of(test);
        if (!model.inputs.empty()) {
            const OnnxType type = read_onnx_tensor((sets[0] / "input_0.pb").string()).type;
            result.precision = type == OnnxType::Float16 ? "f16" : type == OnnxType::Bfloat16 ? "bf16" : "f32";
        }
        for (const fs::path& set : sets) {
            run_data_set(device, model, set, result);
        }
    } catch (const NotOurs& reason) {
        result.cases = 0;
        skip(result, reason.what());
    } catch (const std::exception& error) {
        result.complaints.push_back(fmt::format("{}: {}: {}", device.device().id, result.group, error.what()));
    }
    result.seconds = seconds_since(begin);
    return result;
}

// Tests that did not run: ops that are not ours, and graphs that express one op by several.
Result left_out(const std::map<std::string, int>& others, int graphs) {
    Result rest{.op = "onnx, other", .family = "onnx", .group = "other ops", .says = "ops that are not ours"};
    int tests = 0;
    for (const auto& [op, count] : others) {
        tests += count;
    }
    if (tests > 0) {
        rest.skipped[counted(others.size(), "op") + " that no Transformer of ours has"] = tests;
    }
    if (graphs > 0) {
        rest.skipped["graphs of several ops"] = graphs;
    }
    rest.level = rest.skipped.empty() ? SupportLevel::Native : SupportLevel::None;
    return rest;
}

// A test whose model cannot be parsed.
Result unreadable(const std::string& name, const std::string& why) {
    Result result{.op = "onnx", .family = "onnx", .group = name, .says = "a model that can be read"};
    result.complaints.push_back(why);
    return result;
}

FailedCase failed_case(const NodeTests& tests, const DeviceInfo& device, const std::string& name) {
    return {.title = name,
            .repeat = fmt::format("headscope conform --device {} --onnx-node-tests {} --case {}", device.id,
                                  shell_quoted(tests.folder), shell_quoted(name))};
}

}  // namespace

DeviceReport run_onnx_node_tests(const NodeTests& tests, Backend& device) {
    const auto begin = Clock::now();
    DeviceReport report{.device = device.device(), .results = {}, .date = date_now()};
    std::map<std::string, int> others;  // ops that are not ours
    int graphs = 0;
    const std::vector<fs::path> all = tests_of(tests);
    for (const fs::path& test : all) {
        const std::string name = test.filename().string();
        if (tests.stop_requested()) {
            report.interrupted = true;
            report.failure = "it was interrupted";
            break;
        }
        const FailedCase at = failed_case(tests, report.device, name);
        if (tests.progress) {
            tests.progress({.text = device.device().id + ": " + name,
                            .repeat = at.repeat,
                            .done = static_cast<std::size_t>(&test - all.data()),
                            .all = all.size()});
        }
        OnnxModel model;
        try {
            model = read_onnx_model((test / "model.onnx").string());
        } catch (const Error& error) {
            report.results.push_back(unreadable(name, error.what()));
            report.results.back().failed.push_back(at);
            continue;
        }
        if (model.nodes.size() > 1) {
            ++graphs;
        } else if (!is_our_onnx_op(model.nodes.front())) {
            ++others[model.nodes.front().op];
        } else {
            report.results.push_back(run_test(device, model, test));
            if (!report.results.back().passed()) {
                report.results.back().failed.push_back(at);
            }
        }
    }
    if (const Result rest = left_out(others, graphs); rest.missing()) {
        report.results.push_back(rest);
    }
    report.seconds = seconds_since(begin);
    return report;
}

}  // namespace headscope::conformance
