// Texts with masks, whose ids are those of the whole text with the tokenizer's own mask.
#include "infer/masked_text.h"

#include <catch2/catch.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

using Ids = std::vector<std::int32_t>;
using Spans = std::vector<ByteSpan>;

constexpr std::int32_t kMaskId = 2;

// Letters, alone and after a space, and a mask with the given rules.
json byte_level(const json& rules) {
    json mask = {{"id", kMaskId}, {"content", "<mask>"}, {"special", true}};
    mask.update(rules);
    json file = {{"added_tokens", {mask}},
                 {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
                 {"decoder", {{"type", "ByteLevel"}}},
                 {"model", {{"type", "BPE"}, {"merges", {"\u0120 a"}}, {"vocab", {{"<s>", 0}, {"</s>", 1}}}}}};
    int id = kMaskId;
    for (const char* piece : {"<mask>", "a", "b", "\u0120", "\u0120a"}) {
        file["model"]["vocab"][piece] = id++;
    }
    return file;
}

json word_pieces() {
    json file = {{"added_tokens", {{{"id", kMaskId}, {"content", "[MASK]"}, {"special", true}}}},
                 {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", true}}},
                 {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                 {"model", {{"type", "WordPiece"}, {"unk_token", "[UNK]"}}}};
    int id = 0;
    for (const char* piece : {"[CLS]", "[SEP]", "[MASK]", "[UNK]", "a", "##a", "b", "##b", "_"}) {
        file["model"]["vocab"][piece] = id++;
    }
    return file;
}

ModelDirectory model_with(const json& file) {
    const auto tokenizer = std::make_shared<const Tokenizer>(Tokenizer::from_bytes(file.dump(), "tokenizer.json"));
    ModelConfig config;
    config.frame.bos_id = 0;
    config.frame.eos_id = 1;
    config.frame.mask_id = kMaskId;
    config.max_length = 12;
    return {.path = "memory", .config = config, .source_tokenizer = tokenizer, .target_tokenizer = tokenizer};
}

// Without the ends.
Ids ids_of(const ModelDirectory& model, const std::string& text, std::string_view mark = kMaskText) {
    const Ids ids = encode_masked(model, text, mark).ids;
    CHECK(ids.front() == 0);
    CHECK(ids.back() == 1);
    return {ids.begin() + 1, ids.end() - 1};
}

}  // namespace

TEST_CASE("a mask takes the blanks that the tokenizer says", "[masked_text]") {
    const Ids with_blanks{3, 5, kMaskId, 6};
    CHECK(ids_of(model_with(byte_level(json::object())), "a [MASK] a") == with_blanks);
    const ModelDirectory left = model_with(byte_level({{"lstrip", true}}));
    for (const char* text : {"a [MASK] a", "a <mask> a", "a[MASK] a", "a \u3000[MASK] a"}) {
        CHECK(ids_of(left, text) == Ids{3, kMaskId, 6});
    }
    CHECK(ids_of(left, "[MASK] <mask>[MASK]") == Ids{kMaskId, kMaskId, kMaskId});
    CHECK(ids_of(model_with(byte_level({{"rstrip", true}})), "a [MASK] a") == Ids{3, 5, kMaskId, 3});
    CHECK(ids_of(left, "b _ <mask>a_", "_") == Ids{4, kMaskId, kMaskId, 3, kMaskId});
    CHECK(encode_masked(left, "a [MASK] <mask> [MASK]", kMaskText).masks == Spans{{2, 8}, {9, 15}, {16, 22}});
}

TEST_CASE("a mask that is a single word stands alone", "[masked_text]") {
    const ModelDirectory model = model_with(byte_level({{"single_word", true}}));
    CHECK(ids_of(model, "a [MASK] a") == Ids{3, 5, kMaskId, 6});
    CHECK_THAT(error_of([&] { encode_masked(model, "a[MASK]b", kMaskText); }),
               Contains("takes no [MASK] here for its mask, <mask>: put blanks around it"));
    CHECK(encode_masked(model, "a[b", "[MASK]").masks.empty());
}

TEST_CASE("what follows a mask begins a word, as in the tokenizer's own texts", "[masked_text]") {
    const ModelDirectory model = model_with(word_pieces());
    CHECK(ids_of(model, "ab[MASK]ab") == Ids{4, 7, kMaskId, 4, 7});
    CHECK(ids_of(model, "[MASK]") == Ids{kMaskId});
    CHECK(ids_of(model, "A _ [MASK]_", "_") == Ids{4, kMaskId, kMaskId, kMaskId});
    CHECK(encode_masked(model, "a _[MASK]", "_").masks == Spans{{2, 3}, {3, 9}});
    CHECK_THAT(error_of([&] { encode_masked(model, "[MASK]\xff", kMaskText); }), Contains("UTF-8"));
    CHECK_THAT(error_of([&] { encode_masked(model, "a a a a a a a a a a [MASK]", kMaskText); }),
               Contains("13 tokens including its ends, but the model takes at most 12"));
}
