// Any bytes as one of ONNX's files: refused with an Error, or a tensor whose values fit its dims and a model with
// nodes.
#include "conformance/onnx/model.h"
#include "tests/fuzz/fuzz.h"

using namespace headscope;

namespace {

std::string field(char key, const std::string& bytes) {
    return key + std::string(1, static_cast<char>(bytes.size())) + bytes;
}

}  // namespace

std::vector<std::string> headscope::fuzz_seeds() {
    const std::string tensor =
        std::string("\x08\x02\x10\x01\x42\x01x\x4A\x08", 9) + std::string("\0\0\x80\x3F\0\0\0\xC0", 8);
    const std::string half = std::string("\x0A\x01\x02\x10\x0A\x2A\x05\x80\x7C\x80\x80\x03", 12);
    const std::string half_of_nan("\x10\x0A\x51\0\0\0\0\0\0\xF8\x7F", 11);
    const std::string attribute =
        field('\x0A', "axis") + std::string("\x15\0\0\x80\x3F", 5) + std::string("\x18\x02\xA0\x01\x02", 5);
    const std::string node =
        field('\x0A', "x") + field('\x12', "y") + field('\x22', "Softmax") + field('\x2A', attribute);
    const std::string graph =
        field('\x0A', node) + field('\x5A', field('\x0A', "x")) + field('\x62', field('\x0A', "y"));
    return {tensor, half, half_of_nan, field('\x3A', graph) + field('\x42', std::string("\x0A\x00\x10\x0D", 4))};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = as_text(data, size);
    run_or_refuse([&] {
        const conformance::OnnxTensor tensor = conformance::parse_onnx_tensor(bytes, "fuzz");
        std::int64_t elements = 1;
        for (const std::int64_t dim : tensor.dims) {
            elements *= dim;
        }
        HEADSCOPE_CHECK(elements == static_cast<std::int64_t>(tensor.values.size()), "a tensor of another size");
    });
    run_or_refuse(
        [&] { HEADSCOPE_CHECK(!conformance::parse_onnx_model(bytes, "fuzz").nodes.empty(), "a model without nodes"); });
    return 0;
}
