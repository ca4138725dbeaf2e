// Any bytes as a GGUF file: refused with an Error, or every tensor can be read to its last byte. If they are a model,
// its tokenizer splits texts into its own pieces.
#include "import/open_model.h"
#include "tests/fuzz/archive.h"
#include "tests/import/tiny_llama.h"
#include "tests/io/gguf_writer.h"

using namespace headscope;

namespace {

std::string tiny_sentencepiece() {
    TinyLlama llama;
    llama.texts["tokenizer.ggml.model"] = "llama";
    llama.numbers["tokenizer.ggml.unknown_token_id"] = 2;
    llama.pieces = {"<s>", "</s>", "<unk>", "\u2581", "a", "\u2581a", "<0x61>"};
    llama.number_lists["tokenizer.ggml.token_type"] = {3, 3, 2, 1, 1, 1, 6};
    llama.float_lists["tokenizer.ggml.scores"] = {0, 0, 0, -1, -2, -3, 0};
    return llama.file();
}

void open_as_model(std::string_view bytes) {
    const MemoryFile file(bytes);
    run_or_refuse([&] {
        const ModelDirectory model = open_model(file.path());
        const Tokenizer& tokenizer = *model.target_tokenizer;
        HEADSCOPE_CHECK(tokenizer.size() == model.config.target_vocabulary, "a vocabulary of another size");
        run_or_refuse([&] {
            for (const std::int32_t id : tokenizer.encode("abba</s> 12 caf\u00e9 ")) {
                HEADSCOPE_CHECK(id >= 0 && id < tokenizer.size(), "an id that no piece has");
            }
        });
    });
}

}  // namespace

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
    return {values.file(), tensors.file(), blocks.file(), TinyLlama().file(), tiny_sentencepiece()};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    read_archive(std::string(as_text(data, size)), open_gguf_archive);
    open_as_model(as_text(data, size));
    return 0;
}
