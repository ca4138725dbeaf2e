// ONNX's node tests: reading files and comparing with their vectors.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "conformance/onnx/model.h"
#include "conformance/onnx/node_ops.h"
#include "conformance/onnx/node_tests.h"
#include "devices.h"
#include "io/atomic_file.h"
#include "registry/registry.h"
#include "support/check.h"
#include "tests/house/files.h"
#include "tests/house/open_options.h"
#include "tests/io/temporary_folder.h"

using namespace headscope;
using namespace headscope::conformance;

namespace {

using Catch::Matchers::Contains;
namespace fs = std::filesystem;

const std::string kVectors = checkout_file("tests/golden/onnx");

// Fields in the Protocol Buffers format.
std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7U) {
        bytes += static_cast<char>(value | 0x80U);
    }
    return bytes + static_cast<char>(value);
}
std::string number_field(std::uint32_t field, std::uint64_t value) {
    return varint(field << 3U) + varint(value);
}
std::string bytes_field(std::uint32_t field, const std::string& bytes) {
    return varint(field << 3U | 2U) + varint(bytes.size()) + bytes;
}
template <class T>
std::string raw(const std::vector<T>& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

OnnxTensor parsed(const std::string& bytes) {
    return parse_onnx_tensor(bytes, "t.pb");
}

// A copy of one vector in a folder, to be damaged.
class Bent {
public:
    explicit Bent(const std::string& test) : test_(folder_.file(test)) {
        fs::copy(fs::path(kVectors) / test, test_, fs::copy_options::recursive);
    }
    std::string file(const std::string& name) const { return test_ + "/" + name; }
    DeviceReport run() const { return run_onnx_node_tests({folder_.file("")}, *open_device("cpu")); }
    Result only() const {
        const DeviceReport report = run();
        REQUIRE(report.results.size() == 1);
        return report.results[0];
    }

private:
    TemporaryFolder folder_;
    std::string test_;
};

}  // namespace

TEST_CASE("every device agrees with ONNX's vectors", "[onnx]") {
    for (const std::string& id : devices_under_test()) {
        const std::unique_ptr<Backend> device = open_device(id, environment_options());
        const DeviceReport report = run_onnx_node_tests({kVectors}, *device);
        CHECK(report.passed());
        std::map<std::string, int> ran;
        for (const Result& result : report.results) {
            INFO(id << " " << result.group);
            CHECK(result.complaints.empty());
            ran[result.op] += result.runs;
        }
        CHECK(ran == std::map<std::string, int>{{"onnx Attention", 13},
                                                {"onnx Gemm", 1},
                                                {"onnx LayerNormalization", 1},
                                                {"onnx LogSoftmax", 1},
                                                {"onnx MatMul", 1},
                                                {"onnx Softmax", 1},
                                                {"onnx SoftmaxCrossEntropyLoss", 1},
                                                {"onnx, other", 0}});
    }
}

namespace {

// One head of three queries and four keys under `mask` [3, 4], where keys 2 and 3 hold `lost`.
std::vector<double> attended(Backend& device, OnnxType type, const std::vector<double>& mask, double lost) {
    const OnnxNode node{
        .op = "Attention", .domain = {}, .inputs = {"Q", "K", "V", "attn_mask"}, .outputs = {"Y"}, .attributes = {}};
    const OnnxTensor keys{.name = {}, .dims = {1, 1, 4, 2}, .values = {1, 2, -1, 0.5, lost, lost, lost, lost}};
    NodeCall call{.node = node, .opset = 24, .inputs = {}};
    call.inputs = {OnnxTensor{.name = {}, .dims = {1, 1, 3, 2}, .values = {0.5, 1, -1, 2, 1, 1}}, keys, keys,
                   OnnxTensor{.name = {}, .type = type, .dims = {3, 4}, .values = mask}};
    return run_node(device, call).at(0);
}

}  // namespace

TEST_CASE("keys that a mask forbids do not matter, NaN and infinity included", "[onnx]") {
    const double no = -kInfinity;
    const std::vector<double> added{0, 0.5, no, no, no, 0, 1, no, no, no, no, no};
    const std::vector<double> truths{1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0};
    for (const std::string& id : devices_under_test()) {
        INFO(id);
        const std::unique_ptr<Backend> device = open_device(id, environment_options());
        for (const auto& [type, mask] : {std::pair{OnnxType::Float, added}, {OnnxType::Bool, truths}}) {
            const std::vector<double> expected = attended(*device, type, mask, 0.0);
            for (const double lost : {kNan, kInfinity, -kInfinity}) {
                const std::vector<double> got = attended(*device, type, mask, lost);
                CHECK(got[0] == expected[0]);
                CHECK(got[1] == expected[1]);
                CHECK_FALSE(std::isfinite(got[2] + got[3]));  // the second query sees one of them
                CHECK(got[4] == 0.0);
                CHECK(got[5] == 0.0);
            }
        }
    }
}

TEST_CASE("unsupported ops are skipped, with count and reason", "[onnx]") {
    const DeviceReport report = run_onnx_node_tests({kVectors}, *open_device("cpu"));
    std::map<std::string, int> skipped;
    for (const Result& result : report.results) {
        for (const auto& [why, count] : result.skipped) {
            skipped[result.op + ": " + why] += count;
        }
    }
    CHECK(skipped == std::map<std::string, int>{{"onnx Attention: our attention has no soft cap of scores", 1},
                                                {"onnx, other: 1 op that no Transformer of ours has", 1}});
    CHECK_THAT(report_table(report), Contains("Skipped: 2 tests"));
}

TEST_CASE("a device that differs from the vectors fails", "[onnx]") {
    const Bent bent("test_softmax_large_number");
    const OnnxTensor output = read_onnx_tensor(bent.file("test_data_set_0/output_0.pb"));
    std::vector<float> values(output.values.begin(), output.values.end());
    values[2] += 1e-5F;
    atomic_write_file(bent.file("test_data_set_0/output_0.pb"), number_field(1, 2) + number_field(1, 4) +
                                                                    number_field(2, 1) + bytes_field(8, "y") +
                                                                    bytes_field(9, raw(values)));
    const Result result = bent.only();
    REQUIRE(result.complaints.size() == 1);
    CHECK_THAT(result.complaints[0], Contains("cpu: test_softmax_large_number: y[2]: expected 0.2368"));
    CHECK(result.closeness.of_bound > 1.0);
    CHECK_FALSE(bent.run().passed());
}

TEST_CASE("where infinity is expected no number is accepted", "[onnx]") {
    const Bent bent("test_softmax_large_number");
    const OnnxTensor output = read_onnx_tensor(bent.file("test_data_set_0/output_0.pb"));
    std::vector<float> values(output.values.begin(), output.values.end());
    values[1] = -std::numeric_limits<float>::infinity();
    atomic_write_file(bent.file("test_data_set_0/output_0.pb"), number_field(1, 2) + number_field(1, 4) +
                                                                    number_field(2, 1) + bytes_field(8, "y") +
                                                                    bytes_field(9, raw(values)));
    CHECK_THAT(bent.only().complaints.at(0), Contains("y[1]: expected -inf"));
    CHECK(std::isinf(bent.only().closeness.of_bound));
    CHECK(bent.only().failed_runs == 1);
}

TEST_CASE("unsupported shapes are skipped, and other tests run", "[onnx]") {
    const auto with_inputs = [](const std::string& test, const std::string& a, const std::string& b) {
        const Bent bent(test);
        atomic_write_file(bent.file("test_data_set_0/input_0.pb"), a + number_field(2, 1));
        atomic_write_file(bent.file("test_data_set_0/input_1.pb"), b + number_field(2, 1));
        return bent.only();
    };
    const std::string one = bytes_field(9, std::string(4, '\0'));
    CHECK(with_inputs("test_matmul_4d", one, one).missing());
    CHECK(with_inputs("test_gemm_all_attributes", number_field(1, 1) + one, number_field(1, 1) + one).missing());
    const std::string none = number_field(1, 2) + number_field(1, 3) + number_field(1, 0);
    CHECK(with_inputs("test_layer_normalization_3d_axis1_epsilon", none, number_field(1, 0)).missing());
}

TEST_CASE("a test with broken or missing files fails and names them", "[onnx]") {
    const Bent cut("test_matmul_4d");
    fs::resize_file(cut.file("test_data_set_0/input_1.pb"), 40);
    CHECK_THAT(cut.only().complaints.at(0), Contains("input_1.pb") && Contains("truncated"));

    const Bent lost("test_matmul_4d");
    fs::remove(lost.file("test_data_set_0/output_0.pb"));
    CHECK_THAT(lost.only().complaints.at(0), Contains("output_0.pb"));

    const Bent empty("test_matmul_4d");
    fs::remove_all(empty.file("test_data_set_0"));
    CHECK_THAT(empty.only().complaints.at(0), Contains("has no test_data_set_0"));

    const Bent no_model("test_matmul_4d");
    atomic_write_file(no_model.file("model.onnx"), "no model");
    CHECK_THAT(no_model.only().complaints.at(0), Contains("model.onnx"));
    CHECK_FALSE(no_model.run().passed());
    CHECK_THAT(report_table(no_model.run()), Contains("\nFAILED  onnx, a model that can be read (test_matmul_4d)\n"));
}

TEST_CASE("a test without a model fails, and others run", "[onnx]") {
    const Bent bent("test_matmul_4d");
    fs::create_directory(bent.file("../test_of_nothing"));
    fs::create_directory(bent.file("../notes"));
    const DeviceReport report = bent.run();
    REQUIRE(report.results.size() == 2);
    CHECK(report.results[0].passed());
    CHECK_THAT(report.results[1].complaints.at(0), Contains("test_of_nothing/model.onnx"));
    CHECK(report.failures() == 1);
}

TEST_CASE("one test can run alone, and a failed one says how", "[onnx]") {
    const auto named = [](const std::string& text) {
        return run_onnx_node_tests({.folder = kVectors, .name_text = text}, *open_device("cpu"));
    };
    const DeviceReport report = named("test_softmax_large");
    REQUIRE(report.results.size() == 1);
    CHECK(report.results[0].group == "test_softmax_large_number");
    CHECK(report.results[0].seconds > 0.0);
    CHECK_THROWS_WITH(named("nothing"), Contains("is called \"nothing\"; it has") && Contains("such as: test_"));
    const Bent bent("test_matmul_4d");
    atomic_write_file(bent.file("model.onnx"), "no model");
    REQUIRE(bent.only().failed.size() == 1);
    CHECK_THAT(bent.only().failed[0].repeat, Contains("headscope conform --device cpu --onnx-node-tests '/") &&
                                                 Contains("' --case 'test_matmul_4d'"));
}

TEST_CASE("interrupted node tests keep their results", "[onnx]") {
    int begun = 0;
    const DeviceReport report = run_onnx_node_tests(
        {.folder = kVectors, .progress = [&](const Doing&) { ++begun; }, .stop_requested = [&] { return begun == 1; }},
        *open_device("cpu"));
    CHECK(begun == 1);
    CHECK(report.interrupted);
    CHECK_FALSE(report.passed());
    CHECK(report.failure == "it was interrupted");
}

TEST_CASE("a folder without node tests is an error", "[onnx]") {
    const TemporaryFolder folder;
    const std::unique_ptr<Backend> cpu = open_device("cpu");
    CHECK_THROWS_WITH(run_onnx_node_tests({folder.file("")}, *cpu), Contains("holds no node test of ONNX's"));
    CHECK_THROWS_WITH(run_onnx_node_tests({folder.file("nowhere")}, *cpu), Contains("cannot read the folder"));
}

TEST_CASE("a tensor is read in every encoding", "[onnx]") {
    const std::string dims = bytes_field(1, varint(2) + varint(1));  // packed
    const auto values = [&](std::uint64_t type, const std::string& data) {
        return parsed(dims + number_field(2, type) + data).values;
    };
    const std::vector<double> expected{1.5, -2.0};
    const std::vector<double> whole{3.0, -2.0};
    CHECK(values(1, bytes_field(9, raw(std::vector<float>{1.5F, -2.0F}))) == expected);
    CHECK(values(1, bytes_field(4, raw(std::vector<float>{1.5F, -2.0F}))) == expected);
    CHECK(values(11, bytes_field(10, raw(expected))) == expected);
    CHECK(values(10, bytes_field(9, raw(std::vector<std::uint16_t>{0x3E00, 0xC000}))) == expected);
    CHECK(values(10, bytes_field(5, varint(0x3E00) + varint(0xC000))) == expected);
    CHECK(values(16, bytes_field(9, raw(std::vector<std::uint16_t>{0x3FC0, 0xC000}))) == expected);
    CHECK(values(7, bytes_field(9, raw(std::vector<std::int64_t>{3, -2}))) == whole);
    CHECK(values(7, bytes_field(7, varint(3) + varint(static_cast<std::uint64_t>(-2)))) == whole);
    CHECK(values(6, number_field(5, 3) + number_field(5, static_cast<std::uint64_t>(-2))) == whole);
    CHECK(values(9, bytes_field(9, std::string("\x01\x00", 2))) == std::vector<double>{1.0, 0.0});
    const OnnxTensor named = parsed(dims + number_field(2, 3) + bytes_field(8, "x") + bytes_field(9, "\x03\xFE") +
                                    number_field(99, 7) + bytes_field(98, "what later versions add"));
    CHECK(named.name == "x");
    CHECK(named.values == whole);
    CHECK(named.dims == std::vector<std::int64_t>{2, 1});
}

TEST_CASE("invalid tensors are rejected", "[onnx]") {
    const std::string two = number_field(1, 2);
    CHECK_THROWS_WITH(parsed(two + number_field(2, 1)), Contains("t.pb: expected 2 values by its dims, found 0"));
    CHECK_THROWS_WITH(parsed(two + number_field(2, 8)), Contains("type 8"));
    CHECK_THROWS_WITH(parsed(two + number_field(2, 1) + bytes_field(9, "abc")), Contains("no whole numbers"));
    CHECK_THROWS_WITH(parsed(two + number_field(2, 1) + bytes_field(4, "abc")),
                      Contains("not a multiple of their size"));
    CHECK_THROWS_WITH(parsed(two + bytes_field(2, "F")), Contains("unexpected wire type"));
    CHECK_THROWS_WITH(parsed(number_field(1, 1ULL << 62U) + number_field(1, 4)), Contains("impossible size"));
    CHECK_THROWS_WITH(parsed(number_field(1, static_cast<std::uint64_t>(-1)) + number_field(2, 1)),
                      Contains("impossible size"));
    CHECK_THROWS_WITH(parsed(number_field(2, 10) + number_field(5, 70000)), Contains("have more bits"));
    const std::string nan_as_double("\x51\0\0\0\0\0\0\xF8\x7F", 9);
    CHECK_THROWS_WITH(parsed(number_field(2, 10) + nan_as_double), Contains("have more bits"));
    const std::string half_a_bit("\x51\0\0\0\0\0\0\xF8\x3F", 9);  // 1.5
    CHECK_THROWS_WITH(parsed(number_field(2, 10) + half_a_bit), Contains("no whole numbers"));
    CHECK_THROWS_WITH(parsed("\x0A\x7F"), Contains("truncated"));
    CHECK_THROWS_WITH(parsed(std::string(12, '\xFF')), Contains("more than ten bytes"));
    CHECK_THROWS_WITH(parsed("\x0F"), Contains("unknown wire type"));
    CHECK_THROWS_WITH(parsed(std::string(1, '\0')), Contains("invalid number"));
    // An attribute's float, packed into nothing.
    const std::string attribute = bytes_field(1, "alpha") + bytes_field(2, "");
    CHECK_THROWS_WITH(parse_onnx_model(bytes_field(7, bytes_field(1, bytes_field(5, attribute))), "m.onnx"),
                      Contains("unexpected wire type"));
    CHECK_THROWS_WITH(parse_onnx_model("", "m.onnx"), Contains("m.onnx") && Contains("has no nodes"));
}

TEST_CASE("a model's node is read with its attributes", "[onnx]") {
    const OnnxModel model = read_onnx_model(kVectors + "/test_gemm_all_attributes/model.onnx");
    REQUIRE(model.nodes.size() == 1);
    const OnnxNode& node = model.nodes[0];
    CHECK(node.op == "Gemm");
    CHECK(node.inputs == std::vector<std::string>{"a", "b", "c"});
    CHECK(node.outputs == std::vector<std::string>{"y"});
    CHECK(model.inputs == node.inputs);
    CHECK(model.outputs == node.outputs);
    CHECK(model.opset >= 13);
    CHECK(node.real("alpha", 0.0F) == 0.25F);
    CHECK(node.real("beta", 0.0F) == 0.35F);
    CHECK(node.integer("transA", 0) == 1);
    CHECK(node.integer("nothing", 7) == 7);
    CHECK(read_onnx_model(kVectors + "/test_sce_mean_no_weight_ii_3d_log_prob/model.onnx")
              .nodes[0]
              .text("reduction", "") == "mean");
}
