// Tokenizers of other programs against their own results (tests/golden/make_tokenizer_vectors.py).
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/strict_json.h"
#include "tests/io/temporary_folder.h"
#include "text/tokenizer.h"

using namespace headscope;

namespace {

using Ids = std::vector<std::int32_t>;

const std::string kFolder = HEADSCOPE_SOURCE_DIR "/tests/golden/tokenizers/";

}  // namespace

TEST_CASE("tokenizer.json gives the ids and texts of Hugging Face's tokenizers", "[golden]") {
    const std::string name = GENERATE("gpt2", "roberta", "bert_cased", "bert_uncased", "bert_accents", "t5", "mbart",
                                      "mbart50", "stripped", "converted", "prepended", "llama3", "qwen2", "gpt4o",
                                      "smollm", "gptneox", "deepseek", "llama2", "mistral", "gemma");
    CAPTURE(name);
    const Tokenizer tokenizer = Tokenizer::load(kFolder + name + ".json");
    const nlohmann::json golden = read_json_file(kFolder + name + ".expected.json");
    for (std::size_t i = 0; i < golden["lines"].size(); ++i) {
        const auto line = golden["lines"][i].get<std::string>();
        const auto ids = golden["ids"][i].get<Ids>();
        CAPTURE(line);
        CHECK(tokenizer.encode(line) == ids);
        CHECK(tokenizer.decode(ids) == golden["decoded"][i].get<std::string>());
        // Each byte belongs to at most one piece, in order; joined pieces, too.
        for (const auto& [spans, size] : {std::pair(tokenizer.encoded_spans(line), line.size()),
                                          std::pair(tokenizer.decoded_spans(ids), tokenizer.decode(ids).size())}) {
            std::size_t end = 0;
            for (const ByteSpan& span : spans) {
                CHECK(span.begin >= end);
                CHECK(span.end >= span.begin);
                end = span.end;
            }
            CHECK(end <= size);
        }
    }
    for (std::size_t i = 0; i < golden["random_ids"].size(); ++i) {
        const auto ids = golden["random_ids"][i].get<Ids>();
        CAPTURE(ids);
        CHECK(tokenizer.decode(ids) == golden["random_decoded"][i].get<std::string>());
    }
}
