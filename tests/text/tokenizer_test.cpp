#include "text/tokenizer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "tests/text/characters.h"
#include "tests/text/empty_texts.h"
#include "tests/text/sentences.h"
#include "text/normalised.h"
#include "text/tokenizer_training.h"
#include "text/white_space.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::string trained(TokenizerType type, std::int32_t size = 120) {
    return train_tokenizer({.sentences = number_sentences(), .type = type, .vocabulary_size = size});
}

}  // namespace

TEST_CASE("decoding returns the encoded text", "[tokenizer]") {
    const TokenizerType type = GENERATE(TokenizerType::Bpe, TokenizerType::Unigram);
    const Tokenizer tokenizer = Tokenizer::from_bytes(trained(type), "test");
    CHECK(tokenizer.size() == 120);
    CHECK(tokenizer.pad_id() == 0);
    CHECK(tokenizer.bos_id() == 1);
    CHECK(tokenizer.eos_id() == 2);
    CHECK(tokenizer.unk_id() == 3);
    for (const std::string& sentence : number_sentences(50)) {
        const std::vector<std::int32_t> ids = tokenizer.encode(sentence);
        CHECK(tokenizer.decode(ids) == sentence);
        const std::vector<std::string> pieces = tokenizer.encode_pieces(sentence);
        REQUIRE(pieces.size() == ids.size());
        for (std::size_t at = 0; at < ids.size(); ++at) {
            CHECK(tokenizer.piece(ids[at]) == pieces[at]);
            CHECK(tokenizer.id_of(pieces[at]) == ids[at]);
            CHECK(ids[at] > tokenizer.unk_id());
        }
    }
    // A frequent word is one piece (unigram may find its parts likelier).
    CHECK((type == TokenizerType::Unigram ||
           tokenizer.encode_pieces("heißt") == std::vector<std::string>{"\u2581heißt"}));
}

TEST_CASE("empty text has no pieces and is skipped in training", "[tokenizer]") {
    const Tokenizer tokenizer = Tokenizer::from_bytes(trained(TokenizerType::Bpe), "test");
    std::vector<std::string> sentences = number_sentences();
    for (const std::string& text : empty_texts()) {
        INFO(text);
        CHECK(tokenizer.encode(text).empty());
        CHECK(tokenizer.encode_pieces(text).empty());
        sentences.push_back(text);
    }
    CHECK(train_tokenizer({.sentences = sentences, .vocabulary_size = 120}) == trained(TokenizerType::Bpe));
    CHECK_THAT(error_of([] { train_tokenizer({.sentences = empty_texts(), .vocabulary_size = 120}); }),
               Contains("without text"));
}

TEST_CASE("a character is empty if SentencePiece drops it or it is invisible", "[tokenizer]") {
    const Tokenizer tokenizer = Tokenizer::from_bytes(trained(TokenizerType::Bpe), "test");
    std::string wrong;
    for (utf8proc_int32_t c = 0; c < kCodePoints; ++c) {
        const utf8proc_category_t category = utf8proc_category(c);
        if (category == UTF8PROC_CATEGORY_CS) {
            continue;
        }
        const std::string text = utf8(c);
        const bool unseen = category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
                            utf8proc_get_property(c)->ignorable || is_white_space(static_cast<char32_t>(c));
        if (is_empty_text(text) != (unseen || tokenizer.is_blank(text))) {
            wrong += " " + text;
        }
        if (is_empty_text(text) != tokenizer.encode(text).empty()) {
            wrong += " " + text;
        }
    }
    CHECK(wrong == "");
}

TEST_CASE("special ids", "[tokenizer]") {
    const Tokenizer tokenizer = Tokenizer::from_bytes(trained(TokenizerType::Bpe), "test");
    std::vector<std::int32_t> ids = tokenizer.encode("Die Zahl");
    ids.insert(ids.begin(), {1, 0});
    ids.insert(ids.end(), {2, 0, 0});
    CHECK(tokenizer.decode(ids) == "Die Zahl");
    CHECK(tokenizer.decode({}).empty());
    CHECK(tokenizer.decode({0, 1, 2}).empty());
    CHECK(tokenizer.encode("").empty());
    CHECK(tokenizer.encode(" \t ").empty());
    const std::vector<std::int32_t> unknown = tokenizer.encode("Die Ω Zahl");
    CHECK(std::count(unknown.begin(), unknown.end(), 3) == 1);
    CHECK(tokenizer.decode(unknown) == "Die  \u2047  Zahl");
    CHECK(tokenizer.id_of("no such piece") == 3);
    // Text that looks like a control piece is plain text.
    const std::vector<std::int32_t> spelled = tokenizer.encode("</s><s><pad>");
    CHECK(std::count_if(spelled.begin(), spelled.end(), [](std::int32_t id) { return id < 3; }) == 0);
}

TEST_CASE("control pieces follow the special ones and never come from text", "[tokenizer]") {
    const TokenizerType type = GENERATE(TokenizerType::Bpe, TokenizerType::Unigram);
    const std::vector<std::string> control{"<mask>", "<extra_id_0>", "<extra_id_1>"};
    const Tokenizer tokenizer = Tokenizer::from_bytes(
        train_tokenizer(
            {.sentences = number_sentences(), .type = type, .vocabulary_size = 120, .control_pieces = control}),
        "test");
    CHECK(tokenizer.size() == 120);
    CHECK(tokenizer.vocabulary().find("<mask>") == 4);
    CHECK(tokenizer.vocabulary().find("<extra_id_1>") == 6);
    CHECK(tokenizer.vocabulary().piece(4).kind == PieceKind::Control);
    const std::vector<std::int32_t> spelled = tokenizer.encode("Die <mask> heißt");
    CHECK(std::count(spelled.begin(), spelled.end(), 4) == 0);
    std::vector<std::int32_t> ids = tokenizer.encode("Die Zahl heißt");
    ids.insert(ids.begin() + 1, 4);
    CHECK(tokenizer.decode(ids) == "Die Zahl heißt");
    const std::vector<ByteSpan> spans = tokenizer.decoded_spans(ids);
    CHECK(spans[1].begin == spans[0].end);
    CHECK(spans[1].end == spans[2].begin);
    for (const char* wrong : {"mask", "<>", "<a,b>", "<a b>", "<a"}) {
        CHECK_THAT(error_of([&] { train_tokenizer({.sentences = number_sentences(), .control_pieces = {wrong}}); }),
                   Contains("such as <mask>, or a language's, such as >>de<<, got \"" + std::string(wrong) + "\""));
    }
    CHECK_THAT(error_of([&] {
                   train_tokenizer({.sentences = number_sentences(), .vocabulary_size = 7, .control_pieces = control});
               }),
               Contains("at least 8 pieces"));
}

TEST_CASE("tokens of target languages never come from text, in any tokenizer", "[tokenizer]") {
    const TokenizerType type =
        GENERATE(TokenizerType::Bpe, TokenizerType::Unigram, TokenizerType::WordPiece, TokenizerType::Words);
    const Tokenizer tokenizer = Tokenizer::from_bytes(train_tokenizer({.sentences = number_sentences(),
                                                                       .type = type,
                                                                       .vocabulary_size = 100,
                                                                       .control_pieces = {"<mask>", ">>de<<"}}),
                                                      "test");
    CHECK(tokenizer.vocabulary().find(">>de<<") == 5);
    CHECK(tokenizer.vocabulary().piece(5).kind == PieceKind::Control);
    const std::vector<std::int32_t> spelled = tokenizer.encode("Die >>de<< Zahl");
    CHECK(spelled.size() > 2);
    CHECK(std::count(spelled.begin(), spelled.end(), 5) == 0);
    CHECK(tokenizer.decode({5}).empty());
    for (const char* wrong : {">>de", "de<<", ">><<", ">>d e<<"}) {
        CHECK_THAT(error_of([&] { train_tokenizer({.sentences = number_sentences(), .control_pieces = {wrong}}); }),
                   Contains("such as >>de<<, got \"" + std::string(wrong) + "\""));
    }
}

TEST_CASE("text is normalized", "[tokenizer]") {
    const Tokenizer tokenizer = Tokenizer::from_bytes(trained(TokenizerType::Unigram), "test");
    CHECK(tokenizer.encode("  Die \t Zahl\r") == tokenizer.encode("Die Zahl"));
    CHECK(tokenizer.encode("Ｄｉｅ Ｚａｈｌ") == tokenizer.encode("Die Zahl"));  // full width
    CHECK(tokenizer.encode("fu\xCC\x88nf") == tokenizer.encode("fünf"));         // u and a combining diaeresis
}

TEST_CASE("a line of 100,000 characters", "[tokenizer]") {
    const TokenizerType type = GENERATE(TokenizerType::Bpe, TokenizerType::Unigram);
    const Tokenizer tokenizer = Tokenizer::from_bytes(trained(type), "test");
    std::string spaced;
    while (spaced.size() < 100'000) {
        spaced += "einundzwanzig ";
    }
    spaced.pop_back();
    CHECK(tokenizer.decode(tokenizer.encode(spaced)) == spaced);
    const std::string solid(100'000, 'e');
    CHECK(tokenizer.decode(tokenizer.encode(solid)) == solid);
}

TEST_CASE("invalid input to a tokenizer is an error", "[tokenizer]") {
    const Tokenizer tokenizer = Tokenizer::from_bytes(trained(TokenizerType::Bpe), "the-name");
    CHECK_THAT(error_of([&] { tokenizer.encode("ab\xff"); }), Contains("byte 3 is 0xff"));
    CHECK_THAT(error_of([&] { tokenizer.encode_pieces("\xC3"); }), Contains("byte 1 is 0xc3"));
    CHECK_THAT(error_of([&] { tokenizer.decode({5, 120}); }), Contains("the id 120") && Contains("the-name"));
    CHECK_THAT(error_of([&] { tokenizer.decode({-1}); }), Contains("the id -1"));
    CHECK_THAT(error_of([&] { tokenizer.piece(120); }), Contains("120 pieces"));
}

TEST_CASE("a tokenizer is thread-safe", "[tokenizer]") {
    const Tokenizer tokenizer = Tokenizer::from_bytes(trained(TokenizerType::Unigram), "test");
    const std::vector<std::string> sentences = number_sentences(100);
    std::vector<std::vector<std::vector<std::int32_t>>> encoded(3);
    std::vector<std::thread> threads;
    for (auto& mine : encoded) {
        threads.emplace_back([&] {
            for (const std::string& sentence : sentences) {
                mine.push_back(tokenizer.encode(sentence));
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(encoded[1] == encoded[0]);
    CHECK(encoded[2] == encoded[0]);
}

TEST_CASE("a model is loaded from a file", "[tokenizer]") {
    const TemporaryFolder folder;
    const std::string path = folder.file("spm.model");
    const TokenizerTraining training{.sentences = number_sentences(), .vocabulary_size = 100};
    train_tokenizer(training, path);
    CHECK(read_all(path) == train_tokenizer(training));
    CHECK(Tokenizer::load(path).size() == 100);
    CHECK_THAT(error_of([&] { Tokenizer::load(folder.file("none")); }), Contains("none") && Contains("No such file"));
    for (const std::string& bytes : {std::string(), std::string("no model at all"), std::string(1000, '\0')}) {
        CHECK_THAT(error_of([&] { Tokenizer::load(folder.write("bad.model", bytes)); }),
                   Contains("bad.model' is not a SentencePiece model"));
    }
    const std::string whole = read_all(path);
    for (std::size_t size = 0; size < whole.size(); size += whole.size() / 40) {
        CHECK_THAT(error_of([&] { Tokenizer::load(folder.write("cut.model", whole.substr(0, size))); }),
                   Contains("cut.model' is not a SentencePiece model"));
    }
}

TEST_CASE("a normalization table with offsets out of bounds is rejected", "[tokenizer]") {
    std::string bytes = trained(TokenizerType::Bpe);
    // The table follows the rule's name in the normalizer's message: tag 0x12, its length, the trie's size, the units.
    const std::size_t name = bytes.find("nmt_nfkc\x12");
    REQUIRE(name != std::string::npos);
    std::size_t table = name + 9;
    while ((bytes[table] & 0x80) != 0) {
        ++table;
    }
    const std::size_t units = table + 5;
    REQUIRE(error_of([&] { Tokenizer::from_bytes(bytes, "good"); }).empty());
    SECTION("an inner unit points outside") {
        bytes.replace(units, 4, std::string("\xff\xff\xff\x7f", 4));
    }
    SECTION("a leaf points past the replacements") {
        const auto unit = [&](std::size_t at) {
            std::uint32_t value = 0;
            std::memcpy(&value, bytes.data() + units + 4 * at, 4);
            return value;
        };
        std::size_t parent = 0;
        while ((unit(parent) & 0x80000000U) != 0 || (unit(parent) & 0x300U) != 0x100U) {
            ++parent;
        }
        bytes.replace(units + 4 * (parent ^ (unit(parent) >> 10U)), 4, std::string("\xff\xff\xff\xff", 4));
    }
    SECTION("the trie is longer than the table") {
        bytes.replace(table + 1, 4, std::string("\0\0\0\x40", 4));
    }
    CHECK_THAT(error_of([&] { Tokenizer::from_bytes(bytes, "bad"); }),
               Contains("'bad'") && Contains("table is damaged"));
}

TEST_CASE("training is reproducible bit for bit", "[tokenizer]") {
    const TokenizerType type = GENERATE(TokenizerType::Bpe, TokenizerType::Unigram);
    CHECK(trained(type) == trained(type));
    TokenizerTraining sample{
        .sentences = number_sentences(), .type = type, .vocabulary_size = 60, .sentence_limit = 100};
    const std::string first = train_tokenizer(sample);
    CHECK(train_tokenizer(sample) == first);
    sample.seed = 2;
    CHECK(train_tokenizer(sample) != first);
}

TEST_CASE("training reads plain and compressed files", "[tokenizer]") {
    const TemporaryFolder folder;
    std::string text;
    for (const std::string& sentence : number_sentences()) {
        text += sentence + "\n";
    }
    const std::string half = text.substr(0, text.find('\n', text.size() / 2) + 1);
    const std::string rest = text.substr(half.size());
    const std::string from_files = train_tokenizer(
        {.files = {folder.write("a.txt", half), folder.write("b.txt", "\n" + rest)}, .vocabulary_size = 120});
    CHECK(from_files == trained(TokenizerType::Bpe));
}

TEST_CASE("failed training is an error with the reason", "[tokenizer]") {
    const TemporaryFolder folder;
    const TokenizerType type = GENERATE(TokenizerType::Bpe, TokenizerType::Unigram);
    const auto error = [&](TokenizerTraining training) {
        training.type = type;
        return error_of([&] { train_tokenizer(training, folder.file("out.model")); });
    };
    const std::vector<std::string> text = number_sentences();
    CHECK_THAT(error({.sentences = text, .vocabulary_size = 50'000}),
               Contains("50000 pieces on 400 sentences: its words give at most ") &&
                   Contains("use a smaller vocabulary") && !Contains("SentencePiece"));
    CHECK_THAT(error({.sentences = text, .vocabulary_size = 10}),
               Contains("10 pieces on 400 sentences: its characters and the special pieces alone are ") &&
                   Contains("use a larger vocabulary") && !Contains("SentencePiece"));
    CHECK_THAT(error({.sentences = text, .vocabulary_size = 4}), Contains("at least 5"));
    CHECK_THAT(error({.sentences = text, .character_coverage = 1.5}),
               Contains("coverage must be between 0.98 and 1, got 1.5"));
    CHECK_THAT(error({.sentences = text, .sentence_limit = -1}), Contains("limit must be 0 (all) or more, got -1"));
    CHECK_THAT(error({}), Contains("without text"));
    CHECK_THAT(error({.sentences = {"", ""}}), Contains("without text"));
    CHECK_THAT(error({.sentences = {"   ", "\t", "\u200b", "\u2581", "\u2585"}}),
               Contains("without text: all of 5 lines are skipped; the first is empty"));
    CHECK_THAT(error({.sentences = {std::string("a\0b", 3), std::string(5000, 'a')}}),
               Contains("without text: all of 2 lines are skipped; the first contains NUL"));
    CHECK_THAT(error({.sentences = {"a \u2585"}}),
               Contains("the first contains U+2585") && Contains("remove or replace"));
    CHECK_THAT(error({.sentences = {std::string(4193, 'a')}}), Contains("has 4193 bytes") && Contains("at most 4192"));
    CHECK_THAT(error({.sentences = {"", ""}}), Contains("the first is empty"));
    CHECK_THAT(error({.sentences = {"good", "b\xff"}}), Contains("sentence 2") && Contains("byte 2"));
    CHECK_THAT(error({.files = {folder.file("none.txt")}}), Contains("none.txt"));
    CHECK_THAT(error({.files = {folder.write("bad.txt", "a\n\xff\n")}}), Contains("bad.txt' line 2"));
    CHECK_FALSE(std::filesystem::exists(folder.file("out.model")));
}

TEST_CASE("a tokenizer that cannot be written leaves no file", "[tokenizer]") {
    const TemporaryFolder folder;
    CHECK_THAT(error_of([&] {
                   train_tokenizer({.sentences = number_sentences(), .vocabulary_size = 60},
                                   folder.file("no/spm.model"));
               }),
               Contains("no/spm.model"));
}
