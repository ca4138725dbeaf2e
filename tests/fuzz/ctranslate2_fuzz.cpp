// Any bytes as CTranslate2's model.bin: refused with an Error, or every variable can be read.
#include "tests/fuzz/archive.h"
#include "tests/io/ctranslate2_writer.h"

using namespace headscope;

std::vector<std::string> headscope::fuzz_seeds() {
    const std::string floats(8, 'x');
    return {ctranslate2::model(6,
                               {{"heads", {}, 1, "\x08"},
                                {"w", {2, 3}, 1, "abcdef"},
                                {"w_scale", {2}, 0, floats},
                                {"half", {}, 4, "xx"},
                                {"brain", {3}, 5, "xxxxxx"},
                                {"ids", {2}, 3, floats},
                                {"text", {4}, 1, "text"}},
                               {{"v", "w"}, {"h", "heads"}}),
            ctranslate2::model(3, {{"w", {4}, 2, floats, 4}, {"w_scale", {}, 4, "xxxx", 1}}, {{"v", "w"}}),
            ctranslate2::model(2, {{"w", {1, 1, 2}, 4, floats, 2}})};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    read_archive(std::string(as_text(data, size)), open_ctranslate2_archive);
    return 0;
}
