#include "text/word_piece.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "tests/text/sentences.h"
#include "text/bert_words.h"
#include "text/tokenizer.h"
#include "text/tokenizer_training.h"
#include "text/word_piece_training.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Texts = std::vector<std::string>;

namespace {

Texts bert_words_of(std::string_view text) {
    Texts words;
    for (const AlignedWord& word : bert_words(text)) {
        words.push_back(word.text);
    }
    return words;
}

Tokenizer with_pieces(const std::string& lines) {
    return Tokenizer::from_bytes("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n" + lines, "my.txt");
}

// hug 10 times, pug 5, pun 12, bun 4 and hugs 5.
Texts hugs() {
    Texts lines(10, "hug");
    lines.insert(lines.end(), 5, "pug");
    lines.insert(lines.end(), 12, "pun");
    lines.insert(lines.end(), 4, "bun");
    lines.insert(lines.end(), 5, "hugs");
    return lines;
}

}  // namespace

// By hand: ##g occurs 20 times, ##s 5, ##u 36. (##g, ##s) has 5 / (20 * 5) = 1/20, pairs with ##u 1/36. Then every pair
// has 1/36, and (h, ##u) comes first. Then (hu, ##gs) has 5 / (15 * 5) = 1/15, (hu, ##g) 10 / (15 * 15).
TEST_CASE("WordPiece merges the pair with the greatest likelihood ratio", "[word_piece]") {
    const Texts alphabet{"##g", "##n", "##s", "##u", "b", "h", "p"};
    CHECK(train_word_pieces(hugs(), 7, 1.0) == alphabet);
    Texts pieces = alphabet;
    for (const char* next : {"##gs", "hu", "hugs", "hug", "##ug", "##un", "bun", "pug", "pun"}) {
        pieces.emplace_back(next);
        CHECK(train_word_pieces(hugs(), pieces.size(), 1.0) == pieces);
    }
    CHECK(train_word_pieces(hugs(), 1000, 1.0) == pieces);
    CHECK(train_word_pieces(hugs(), 1, 1.0) == alphabet);
}

// "qx" has the ratio 1 / (1 * 1), but occurs once in 2,001 words.
TEST_CASE("WordPiece merges rare pairs last", "[word_piece]") {
    Texts lines{"qx"};
    lines.insert(lines.end(), 1000, "ab ac");
    CHECK(train_word_pieces(lines, 9, 1.0) == Texts{"##b", "##c", "##x", "a", "q", "ab", "ac", "qx"});
}

TEST_CASE("WordPiece leaves out the rarest characters", "[word_piece]") {
    Texts lines{"aaz"};
    lines.insert(lines.end(), 99, "ab");
    CHECK(train_word_pieces(lines, 3, 0.99) == Texts{"##b", "a", "ab"});
}

TEST_CASE("words are those of BERT", "[word_piece]") {
    CHECK(bert_words_of("  It's $5+3,\tor\u00a0\"so\" —") ==
          Texts{"It", "'", "s", "$", "5", "+", "3", ",", "or", "\"", "so", "\"", "—"});
    CHECK(bert_words_of("東京は中文") == Texts{"東", "京", "は", "中", "文"});
    CHECK(bert_words_of("a\u00adb z\u200by \ufffd\x01 x\u0308 €9") == Texts{"ab", "zy", "x\u0308", "€9"});
    CHECK(bert_words_of(" \n").empty());
    const std::vector<AlignedWord> words = bert_words("né\u00ade");
    REQUIRE(words.size() == 1);
    CHECK(words[0].spans == std::vector<ByteSpan>{{0, 1}, {1, 3}, {5, 6}});
    CHECK(words[0].part(1, 3) == "ée");
}

TEST_CASE("WordPiece takes the longest pieces", "[word_piece]") {
    const Tokenizer tokenizer = with_pieces("h\nhu\nhug\n##g\n##s\n##gs\n,\np\n##ü\n");
    CHECK(tokenizer.type() == TokenizerType::WordPiece);
    CHECK(tokenizer.size() == 14);
    CHECK(tokenizer.pad_id() == 0);
    CHECK(tokenizer.unk_id() == 1);
    CHECK(tokenizer.bos_id() == 2);
    CHECK(tokenizer.eos_id() == 3);
    CHECK(tokenizer.vocabulary().find("[MASK]") == 4);
    CHECK(tokenizer.vocabulary().piece(4).kind == PieceKind::Control);
    // "hug" and "##s", not "hu" and "##gs"; "##e" is missing, which makes "huge" unknown.
    const std::string text = "hugs, huge pü [MASK]";
    CHECK(tokenizer.encode_pieces(text) == Texts{"hug", "##s", ",", "huge", "p", "##ü", "[", "MASK", "]"});
    CHECK(tokenizer.encode(text) == std::vector<std::int32_t>{7, 9, 11, 1, 12, 13, 1, 1, 1});
    const std::vector<ByteSpan> spans = tokenizer.encoded_spans(text);
    CHECK(std::vector<ByteSpan>(spans.begin(), spans.begin() + 6) ==
          std::vector<ByteSpan>{{0, 3}, {3, 4}, {4, 5}, {6, 10}, {11, 12}, {12, 14}});
    CHECK(tokenizer.encode(" \t").empty());
    CHECK(tokenizer.is_blank(" \t"));
    CHECK_FALSE(tokenizer.is_blank("h"));
    // As in BERT, a word of more than 100 characters is unknown.
    CHECK(tokenizer.encode("h" + std::string(99, 'g')).size() == 100);
    CHECK(tokenizer.encode("h" + std::string(100, 'g')) == std::vector<std::int32_t>{1});
    CHECK(tokenizer.encode(std::string(100'000, 'h')) == std::vector<std::int32_t>{1});
}

TEST_CASE("WordPiece joins words", "[word_piece]") {
    const auto rejoined = [](const std::string& text) {
        std::set<std::string> words;
        std::string lines;
        for (const AlignedWord& word : bert_words(text)) {
            lines += words.insert(word.text).second ? word.text + "\n" : "";
        }
        const Tokenizer tokenizer = with_pieces(lines);
        return tokenizer.decode(tokenizer.encode(text));
    };
    for (const char* text :
         {"It's late, isn't it?", "A (very) well-known [thing]: 5%; 7/8!", "中文 is 東京", "l’eau"}) {
        CHECK(rejoined(text) == text);
    }
    const Tokenizer tokenizer = with_pieces("h\n##ug\n.\n");
    CHECK(tokenizer.decode({2, 5, 6, 4, 1, 7, 3}) == "hug [UNK].");
    CHECK(tokenizer.decoded_spans({2, 5, 6, 4, 1, 7, 3}) ==
          std::vector<ByteSpan>{{0, 0}, {0, 1}, {1, 3}, {3, 3}, {4, 9}, {9, 10}, {10, 10}});
}

TEST_CASE("WordPiece is trained as other tokenizers are", "[word_piece]") {
    const TokenizerTraining training{.sentences = number_sentences(),
                                     .type = TokenizerType::WordPiece,
                                     .vocabulary_size = 120,
                                     .control_pieces = {"<mask>"}};
    const std::string bytes = train_tokenizer(training);
    CHECK(bytes.starts_with("<pad>\n<s>\n</s>\n<unk>\n<mask>\n##0\n"));
    CHECK(train_tokenizer(training) == bytes);
    const Tokenizer tokenizer = Tokenizer::from_bytes(bytes, "test");
    CHECK(tokenizer.size() == 120);
    CHECK(tokenizer.pad_id() == 0);
    CHECK(tokenizer.bos_id() == 1);
    CHECK(tokenizer.eos_id() == 2);
    CHECK(tokenizer.unk_id() == 3);
    CHECK(tokenizer.vocabulary().find("<mask>") == 4);
    for (const std::string& sentence : number_sentences(50)) {
        const std::vector<std::int32_t> ids = tokenizer.encode(sentence);
        CHECK(tokenizer.decode(ids) == sentence);
    }
    const auto error = [](std::int32_t size) {
        return error_of(
            [&] { train_tokenizer({.sentences = hugs(), .type = TokenizerType::WordPiece, .vocabulary_size = size}); });
    };
    CHECK(error(20).empty());
    CHECK_THAT(error(21), Contains("21 pieces on 36 sentences: its words give at most 20: use a smaller"));
    CHECK_THAT(error(10), Contains("10 pieces on 36 sentences: its characters and the special pieces alone are 11"));
}

TEST_CASE("a damaged WordPiece vocabulary is an error", "[word_piece]") {
    const auto error = [](const std::string& bytes) {
        return error_of([&] { Tokenizer::from_bytes(bytes, "my.txt"); });
    };
    CHECK(error("[UNK]\na\n##a").empty());
    CHECK_THAT(error("[UNK]\na\n\nb\n"), Contains("'my.txt' is not a list of pieces: line 3 is empty"));
    CHECK_THAT(error("[UNK]\na\na\n"), Contains("'my.txt' has the piece 'a' twice, as 1 and 2"));
    for (const char* bytes : {"a\nb\n", "[UNK]\na\xff\n", "[UNK] \na\n"}) {
        CHECK_THAT(error(bytes), Contains("'my.txt' is not a SentencePiece model"));
    }
}

TEST_CASE("a vocabulary may have lines that end with CRLF", "[word_piece]") {
    const Tokenizer tokenizer = Tokenizer::from_bytes("[PAD]\r\n[UNK]\r\n[CLS]\r\n[SEP]\r\nhug\r\n##s\r\n", "my.txt");
    CHECK(tokenizer.encode_pieces("hugs") == std::vector<std::string>{"hug", "##s"});
}
