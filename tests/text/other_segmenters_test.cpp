// Segmenters that need no training: subword-nmt's codes and pieces separated by spaces; and the ids of words.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "text/spaced_pieces.h"
#include "text/subword_nmt.h"
#include "text/tokenizer.h"
#include "text/tokenizer_training.h"
#include "text/vocabulary_file.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

using Texts = std::vector<std::string>;
using Spans = std::vector<ByteSpan>;

Texts split(const Segmenter& segmenter, const std::string& text) {
    Texts pieces;
    for (const Segment& segment : segmenter.split(text)) {
        pieces.push_back(segment.piece);
    }
    return pieces;
}

// Sennrich et al.: low, lowest, newer, wider.
const std::string kCodes = "e r</w>\nl o\nlo w\nw er</w>\nlow e\nx x\n";

}  // namespace

TEST_CASE("codes of subword-nmt merge the characters of words", "[subword_nmt]") {
    const SubwordNmt segmenter("#version: 0.2\n" + kCodes, "codes");
    CHECK(split(segmenter, " lower\tnewer  low") == Texts{"low@@", "er", "n@@", "e@@", "wer", "lo@@", "w"});
    CHECK(split(segmenter, "xxx xxxx x é") == Texts{"xx@@", "x", "xx@@", "x@@", "x", "x", "é"});
    CHECK(split(segmenter, "").empty());
    std::vector<ByteSpan> spans;
    for (const Segment& segment : segmenter.split("élower low")) {
        spans.push_back(segment.span);
    }
    CHECK(spans == Spans{{0, 2}, {2, 5}, {5, 7}, {8, 10}, {10, 11}});
    const JoinedText joined = segmenter.join({"low@@", "er", "n@@", "é@@", "wer", "lo@@"});
    CHECK(joined.text == "lower néwer lo");
    CHECK(joined.spans == Spans{{0, 3}, {3, 5}, {6, 7}, {7, 9}, {9, 12}, {13, 15}});

    // In version 0.1, the end of a word is a character.
    const std::string old = "r </w>\ne r</w>\nl o\nlo w\nlow </w>\n";
    const Texts expected{"low@@", "er", "low"};
    CHECK(split(SubwordNmt("#version: 0.1\n" + old, "codes"), "lower low") == expected);
    CHECK(split(SubwordNmt(old, "codes"), "lower low") == expected);
    CHECK(split(SubwordNmt("#version: 0.2\n" + old, "codes"), "low") == Texts{"lo@@", "w"});
    // fastBPE's have counts.
    CHECK(split(SubwordNmt("e r</w> 12\nl o 7\r\nlo w 6\n", "codes"), "lower") == Texts{"low@@", "er"});

    const auto problem = [](const std::string& codes) { return error_of([&] { SubwordNmt(codes, "my.codes"); }); };
    CHECK_THAT(problem("#version: 0.2\na b\na\n"), Contains("my.codes: line 3: expected two pieces"));
    CHECK_THAT(problem("a b\n\nc d\n"), Contains("my.codes: line 2: expected two pieces"));
    CHECK_THAT(problem("a b x\n"), Contains("my.codes: line 1: expected two pieces"));
    CHECK_THAT(problem("a b\na \xff\n"), Contains("my.codes: line 2: expected two pieces"));
    CHECK_THAT(problem("#version: 0.3\na b\n"), Contains("my.codes: line 1: version \"0.3\""));
}

TEST_CASE("a text may be pieces separated by spaces", "[spaced_pieces]") {
    const SpacedPieces segmenter;
    CHECK(split(segmenter, " a\u3000bc  é\n") == Texts{"a", "bc", "é"});
    CHECK(segmenter.split("a  é")[1].span == ByteSpan{3, 5});
    CHECK(segmenter.join({"a", "é"}).text == "a é");
    CHECK(segmenter.join({"a", "é"}).spans == Spans{{0, 1}, {2, 4}});
}

TEST_CASE("segmenters without ids need a vocabulary", "[tokenizer]") {
    TemporaryFolder folder;
    const auto vocabulary = parse_vocabulary("lo@@ 3\nw 2\nlow@@ 1\ner 1\n", "dict.txt");
    for (const std::string& file : {"#version: 0.2\n" + kCodes, SpacedPieces().file()}) {
        const std::string path = folder.write("source.model", file);
        CHECK_THAT(error_of([&] { Tokenizer::load(path); }), Contains("source.model' has no ids"));
        const Tokenizer tokenizer = Tokenizer::load(path, vocabulary);
        const std::string text = file == SpacedPieces().file() ? "low@@ er lo@@ w x" : "lower low x";
        CHECK(tokenizer.encode(text) == std::vector<std::int32_t>{6, 7, 4, 5, 3});
        CHECK(tokenizer.decode({0, 6, 7, 4, 5, 2}) == text.substr(0, text.size() - 2));
        CHECK(tokenizer.files().segmenter == file);
        CHECK(Tokenizer::load(path, parse_vocabulary(tokenizer.files().vocabulary, "again")).encode(text) ==
              tokenizer.encode(text));
    }
}

TEST_CASE("words have ids by their frequency", "[spaced_pieces]") {
    const Texts lines{"(S XX )S", "(S (NP XX )NP XX )S", "<x> [y] rare"};
    CHECK(frequent_words(lines, 100, 1) == Texts{"XX", "(S", ")S", "(NP", ")NP", "rare"});
    CHECK(frequent_words(lines, 100, 2) == Texts{"XX", "(S", ")S"});
    CHECK(frequent_words(lines, 2, 1) == Texts{"XX", "(S"});
}

TEST_CASE("a tokenizer of words is trained and read again", "[spaced_pieces]") {
    TokenizerTraining training{.sentences = {"b a a", "a ##c"}, .type = TokenizerType::Words, .vocabulary_size = 8000};
    const std::string file = train_tokenizer(training);
    CHECK(file == "#pieces separated by spaces\n<pad>\n<s>\n</s>\n<unk>\na\n##c\nb\n");
    const Tokenizer tokenizer = Tokenizer::from_bytes(file, "my.words");
    CHECK(tokenizer.type() == TokenizerType::Words);
    CHECK(tokenizer.encode("a  ##c x </s> b") == std::vector<std::int32_t>{4, 5, 3, 3, 6});
    CHECK(tokenizer.decode({1, 4, 5, 4, 2, 0}) == "a ##c a");
    CHECK(tokenizer.has_own_ids());
    CHECK(tokenizer.files().segmenter == file);
    CHECK(begins_word("##c", TokenizerType::Words));
    CHECK(tokenizer.pad_id() == 0);
    CHECK(tokenizer.unk_id() == 3);

    training.vocabulary_size = 6;
    training.minimum = 2;
    training.control_pieces = {"<mask>"};
    CHECK(train_tokenizer(training) == "#pieces separated by spaces\n<pad>\n<s>\n</s>\n<unk>\n<mask>\na\n");
    CHECK_THAT(error_of([&] { Tokenizer::from_bytes(file + "a\n", "my.words"); }), Contains("has the piece 'a' twice"));
    CHECK_THAT(error_of([&] { Tokenizer::from_bytes(file + "\n", "my.words"); }),
               Contains("'my.words'") && Contains("line 9 is empty"));
}
