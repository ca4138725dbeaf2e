// Byte pair encoding of words that begin with U+2581. The ids are those of Hugging Face's tokenizers 0.23.
#include "text/marked_bpe.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "text/tokenizer.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

using Ids = std::vector<std::int32_t>;
using ExpectedIds = std::vector<std::pair<std::string, Ids>>;

json marked_bpe_file(bool byte_fallback, bool fuse_unknown, bool ignore_merges) {
    const json marks = {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}};
    json file = {{"added_tokens", {{{"id", 0}, {"content", "<unk>"}, {"special", true}}}},
                 {"normalizer", nullptr},
                 {"pre_tokenizer", marks},
                 {"decoder", marks},
                 {"model",
                  {{"type", "BPE"},
                   {"unk_token", "<unk>"},
                   {"fuse_unk", fuse_unknown},
                   {"byte_fallback", byte_fallback},
                   {"ignore_merges", ignore_merges},
                   {"merges", {"\u2581 a", "a b", "\u2581a b", "s ab"}}}}};
    int id = 0;
    for (const char* piece :
         {"<unk>", "\u2581", "a", "b", "s", "\u2581a", "ab", "\u2581ab", "\u00e9", "<0xC3>", "<0x9F>", "sab"}) {
        file["model"]["vocab"][piece] = id++;
    }
    return file;
}

Tokenizer marked_bpe_of(const json& file) {
    return Tokenizer::from_bytes(file.dump(), "tokenizer.json");
}

}  // namespace

TEST_CASE("BPE with marks merges the characters of words", "[marked_bpe]") {
    const ExpectedIds always = {
        {"ab sab  b", {7, 1, 11, 1, 1, 3}}, {"", {}}, {"a<unk>b", {5, 0, 1, 3}}, {"absab", {7, 11}}};
    const auto check = [&](const Tokenizer& tokenizer, ExpectedIds expected) {
        expected.insert(expected.end(), always.begin(), always.end());
        for (const auto& [text, ids] : expected) {
            CAPTURE(text);
            CHECK(tokenizer.encode(text) == ids);
        }
    };
    check(marked_bpe_of(marked_bpe_file(false, true, false)),
          {{"xyab zz", {1, 0, 6, 1, 0}}, {"\u00df\u00e9a", {1, 0, 8, 2}}});
    check(marked_bpe_of(marked_bpe_file(false, false, false)), {{"xyab zz", {1, 0, 0, 6, 1, 0, 0}}});
    check(marked_bpe_of(marked_bpe_file(true, true, false)),
          {{"xyab zz", {1, 0, 6, 1, 0}}, {"\u00df\u00e9a", {1, 9, 10, 8, 2}}});
    check(marked_bpe_of(marked_bpe_file(false, true, true)), {{"xyab zz", {1, 0, 6, 1, 0}}});
}

TEST_CASE("pieces of BPE with marks know their bytes of the text", "[marked_bpe]") {
    const Tokenizer tokenizer = marked_bpe_of(marked_bpe_file(true, true, false));
    CHECK(tokenizer.type() == TokenizerType::Bpe);
    CHECK(tokenizer.encoded_spans("\u00dfab xb") ==
          std::vector<ByteSpan>{{0, 0}, {0, 0}, {0, 2}, {2, 4}, {4, 5}, {5, 6}, {6, 7}});
    CHECK(tokenizer.decode({7, 1, 11, 1, 1, 3}) == "ab sab  b");
}

TEST_CASE("options of BPE with marks that are not supported are named", "[marked_bpe]") {
    json file = marked_bpe_file(false, true, false);
    file["model"]["end_of_word_suffix"] = "</w>";
    CHECK_THAT(error_of([&] { marked_bpe_of(file); }), Contains("tokenizer.json: \"model.end_of_word_suffix\""));
    file = marked_bpe_file(false, true, false);
    file["pre_tokenizer"]["type"] = "Whitespace";
    CHECK_THAT(error_of([&] { marked_bpe_of(file); }),
               Contains("\"pre_tokenizer\"") && Contains("which is not supported: only \"ByteLevel\""));
    file = marked_bpe_file(false, true, false);
    file["model"]["merges"].push_back("a zz");
    CHECK_THAT(error_of([&] { marked_bpe_of(file); }), Contains("needs the piece 'zz'"));
}
