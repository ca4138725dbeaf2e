// Any bytes as a GGUF file: refused with an Error, or every tensor can be read to its last byte.
#include "tests/fuzz/archive.h"
#include "tests/io/gguf_writer.h"

using namespace headscope;

std::vector<std::string> headscope::fuzz_seeds() {
    GgufWriter values;
    values.add_text("general.architecture", "llama").add_number("llama.block_count", 1).add_float("scale", 1.0F);
    values.add_flag("flag", true).add_texts("pieces", {"a", "b"}).add_numbers("ids", {1, 2});
    values.add_number("general.alignment", 32);
    GgufWriter tensors(2);
    tensors.add_tensor("w", {2, 1}, 0, "aaaabbbb").add_tensor("half", {1, 1, 1, 1}, 1, "aa");
    GgufWriter blocks;
    blocks.add_tensor("small", {32}, 2, std::string(18, 'x')).add_tensor("large", {256}, 14, std::string(210, 'x'));
    blocks.add_tensor("ids", {1}, 27, std::string(8, '\0'));
    return {values.file(), tensors.file(), blocks.file()};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    read_archive(std::string(as_text(data, size)), open_gguf_archive);
    return 0;
}
