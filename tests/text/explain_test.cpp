#include "text/explain.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "tests/text/sentences.h"
#include "text/tokenizer_training.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Texts = std::vector<std::string>;

namespace {

// Splits any text into the same pieces.
class Words final : public Segmenter {
public:
    Words(TokenizerType type, Texts pieces) : type_(type), pieces_(std::move(pieces)) {}
    TokenizerType type() const override { return type_; }
    std::vector<Segment> split(std::string_view) const override {
        std::vector<Segment> segments;
        for (const std::string& piece : pieces_) {
            segments.push_back({piece, {}});
        }
        return segments;
    }
    std::unique_ptr<Joiner> joiner() const override { return nullptr; }

private:
    TokenizerType type_;
    Texts pieces_;
};

// A tokenizer that splits any text into `split`.
Tokenizer with(TokenizerType type, std::vector<Piece> pieces, Texts split) {
    pieces.push_back({"<unk>", PieceKind::Unknown});
    const auto unknown = static_cast<std::int32_t>(pieces.size()) - 1;
    return {std::make_shared<Words>(type, std::move(split)),
            std::make_shared<Vocabulary>(std::move(pieces), SpecialPieces{.unk = unknown}, "mine")};
}

Piece piece(const std::string& text, float score) {
    return {text, PieceKind::Normal, score};
}

}  // namespace

TEST_CASE("BPE is explained by its merges", "[explain]") {
    const Tokenizer tokenizer = with(TokenizerType::Bpe,
                                     {piece("ug", 0.0F), piece("hu", -2.0F), piece("▁h", -1.0F), piece("hug", -3.0F),
                                      piece("▁", -4.0F), piece("h", -5.0F), piece("g", -6.0F)},
                                     {"▁h", "ug", "▁", "?"});
    const std::vector<ExplainedWord> words = explain(tokenizer, "any");
    REQUIRE(words.size() == 2);
    CHECK(words[0].word == "▁hug");
    CHECK(words[0].pieces == Texts{"▁h", "ug"});
    CHECK(words[0].steps == Texts{"▁ h u g", "▁ h ug    u + g, score 0", "▁h ug    ▁ + h, score -1"});
    CHECK(words[1].word == "▁?");
    CHECK(words[1].steps == Texts{"▁ ?"});
}

TEST_CASE("unigram is explained by the likeliest splits", "[explain]") {
    const Tokenizer tokenizer = with(TokenizerType::Unigram,
                                     {piece("▁hug", -7.5F), piece("▁", -1.0F), piece("hug", -6.0F), piece("▁h", -2.0F),
                                      piece("ug", -5.5F), piece("h", -4.0F), piece("u", -4.0F), piece("g", -4.0F)},
                                     {"▁", "hug", "?"});
    const std::vector<ExplainedWord> words = explain(tokenizer, "any");
    REQUIRE(words.size() == 1);
    CHECK(words[0].word == "▁hug?");
    // The unknown character has 10 less than the lowest score, -7.5.
    CHECK(words[0].steps == Texts{"▁ hug ?    log P -24.5000 = -1.0000 + -6.0000 + -17.5000",
                                  "▁hug ?    log P -25.0000 = -7.5000 + -17.5000",
                                  "▁h ug ?    log P -25.0000 = -2.0000 + -5.5000 + -17.5000",
                                  "▁h u g ?    log P -27.5000 = -2.0000 + -4.0000 + -4.0000 + -17.5000"});
}

TEST_CASE("WordPiece is explained by the longest matches", "[explain]") {
    const Tokenizer tokenizer = Tokenizer::from_bytes("<unk>\nhug\nh\n##s\n", "mine");
    const std::vector<ExplainedWord> words = explain(tokenizer, "hugs huge");
    REQUIRE(words.size() == 2);
    CHECK(words[0].word == "hugs");
    CHECK(words[0].pieces == Texts{"hug", "##s"});
    CHECK(words[0].steps == Texts{"the longest piece that begins hugs: hug", "the longest piece that begins ##s: ##s"});
    CHECK(words[1].pieces == Texts{"huge"});
    CHECK(words[1].steps == Texts{"the longest piece that begins huge: hug", "unknown: no piece begins ##e"});
    CHECK(explain(tokenizer, std::string(101, 'h'))[0].steps == Texts{"unknown: it has more than 100 characters"});
}

TEST_CASE("an explanation ends with the pieces that the tokenizer chose", "[explain]") {
    const TokenizerType type = GENERATE(TokenizerType::Bpe, TokenizerType::Unigram);
    const Tokenizer tokenizer = Tokenizer::from_bytes(
        train_tokenizer({.sentences = number_sentences(), .type = type, .vocabulary_size = 120}), "test");
    for (const std::string& sentence : number_sentences(100)) {
        Texts pieces;
        for (const ExplainedWord& word : explain(tokenizer, sentence)) {
            pieces.insert(pieces.end(), word.pieces.begin(), word.pieces.end());
            const std::string& chosen = type == TokenizerType::Bpe ? word.steps.back() : word.steps.front();
            std::string joined;
            for (const std::string& one : word.pieces) {
                joined += (joined.empty() ? "" : " ") + one;
            }
            CHECK(chosen.substr(0, chosen.find("    ")) == joined);
        }
        CHECK(pieces == tokenizer.encode_pieces(sentence));
    }
    CHECK(explain(tokenizer, " ").empty());
    CHECK(explain(tokenizer, std::string(1001, 'e'))[0].steps ==
          Texts{"not explained: it has more than 1000 characters"});
    CHECK_THAT(error_of([] { explain(with(TokenizerType::Other, {}, {}), "a"); }),
               Contains("'mine' is of another type"));
}
