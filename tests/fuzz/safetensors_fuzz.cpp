// Any bytes as a safetensors file: refused with an Error, or every tensor lies inside and can be read to its last byte.
#include <cstring>
#include <numeric>

#include "io/safetensors.h"
#include "tests/fuzz/archive.h"

using namespace headscope;

namespace {

std::string with_length(const std::string& header, std::size_t data_bytes) {
    std::string file(8, '\0');
    file[0] = static_cast<char>(header.size() & 0xffU);
    file[1] = static_cast<char>(header.size() >> 8U);
    return file + header + std::string(data_bytes, 'x');
}

unsigned sum(std::span<const std::byte> bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), 0U,
                           [](unsigned total, std::byte byte) { return total + std::to_integer<unsigned>(byte); });
}

}  // namespace

std::vector<std::string> headscope::fuzz_seeds() {
    return {
        with_length("{}", 0),
        with_length(R"({"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}})", 8),
        with_length(
            R"({"a":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},"b":{"dtype":"BF16","shape":[],"data_offsets":[3,5]},)"
            R"("c":{"dtype":"I64","shape":[0,7],"data_offsets":[5,5]},"d":{"dtype":"F64","shape":[1,1,1,1,1],"data_offsets":[5,13]}})",
            13),
    };
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    read_archive(std::string(as_text(data, size)), open_safetensors_archive);
    const MemoryFile memory(as_text(data, size));
    try {
        const SafeTensorsFile file = SafeTensorsFile::open(memory.path());
        std::size_t covered = 0;
        for (const SafeTensorsEntry& entry : file.entries()) {
            HEADSCOPE_CHECK(entry.begin <= size && entry.bytes <= size - entry.begin, "a tensor outside the file");
            covered += entry.bytes;
            try {
                const MappedTensor tensor = file.at(entry.name);
                const auto elements = static_cast<std::size_t>(tensor.shape.elements());
                HEADSCOPE_CHECK(elements * size_of(tensor.dtype) == tensor.data.size(),
                                "a shape that does not fit its data");
                HEADSCOPE_CHECK(sum(tensor.data) <= 255 * tensor.data.size(), "bytes that cannot be");
            } catch (const Error&) {  // a dtype or rank that Headscope has not
            }
        }
        HEADSCOPE_CHECK(covered <= size, "tensors that overlap");
    } catch (const Error&) {
    }
    return 0;
}
