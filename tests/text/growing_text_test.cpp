// Text that is decoded as its pieces come, in every form of pieces.
#include "text/growing_text.h"

#include <catch2/catch.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "support/utf8.h"
#include "tests/text/sentences.h"
#include "text/numbered_pieces.h"
#include "text/spaced_pieces.h"
#include "text/subword_nmt.h"
#include "text/tokenizer_training.h"

using namespace headscope;

namespace {

using Ids = std::vector<std::int32_t>;
using Texts = std::vector<std::string>;

Tokenizer trained_tokenizer(TokenizerType type) {
    return Tokenizer::from_bytes(
        train_tokenizer({.sentences = number_sentences(), .type = type, .vocabulary_size = 90}), "trained");
}

// The bytes of some characters, blanks and words.
std::shared_ptr<const Vocabulary> bytes_and_words() {
    std::vector<Piece> pieces{{"<s>", PieceKind::Control}, {"<unk>", PieceKind::Unknown}};
    for (const char* byte :
         {"<0x41>", "<0x20>", "<0xC3>", "<0xA9>", "<0xE2>", "<0x82>", "<0xAC>", "<0xF0>", "<0x9F>"}) {
        pieces.push_back({byte, PieceKind::Byte});
    }
    for (const char* word : {"\u2581", "\u2581\u2581", "a", "\u2581a", "b\u2581", "er@@"}) {
        pieces.push_back({word});
    }
    return std::make_shared<Vocabulary>(std::move(pieces), SpecialPieces{.bos = 0, .unk = 1}, "mine");
}

Tokenizer tokenizer_of(const std::string& kind) {
    const auto vocabulary = bytes_and_words();
    const auto spaced = std::make_shared<SpacedPieces>();
    return kind == "BPE"           ? trained_tokenizer(TokenizerType::Bpe)
           : kind == "unigram"     ? trained_tokenizer(TokenizerType::Unigram)
           : kind == "WordPiece"   ? trained_tokenizer(TokenizerType::WordPiece)
           : kind == "words"       ? trained_tokenizer(TokenizerType::Words)
           : kind == "spaced"      ? Tokenizer(spaced, vocabulary)
           : kind == "subword-nmt" ? Tokenizer(std::make_shared<SubwordNmt>("e r\n", "codes"), vocabulary)
           : kind == "byte fallback"
               ? Tokenizer(std::make_shared<NumberedPieces>(spaced, vocabulary), vocabulary)
               : Tokenizer::load(HEADSCOPE_SOURCE_DIR "/tests/golden/tokenizers/" + kind + ".json");
}

// What was settled after each id, all of it whole characters with which the text begins.
Texts settled(const Tokenizer& tokenizer, const Ids& ids) {
    GrowingText growing(tokenizer);
    Texts texts;
    for (const std::int32_t id : ids) {
        growing.add(id);
        texts.push_back(growing.settled());
    }
    const std::string whole = tokenizer.decode(ids);
    for (const std::string& text : texts) {
        CHECK_FALSE(first_invalid_utf8(text));
        CHECK(whole.starts_with(text));
    }
    return texts;
}

Ids ids_of_pieces(const Tokenizer& tokenizer, const Texts& pieces) {
    Ids ids;
    for (const std::string& piece : pieces) {
        ids.push_back(tokenizer.vocabulary().find(piece).value());
    }
    return ids;
}

}  // namespace

TEST_CASE("text that is settled stays, in every form of pieces", "[growing_text]") {
    const std::string kind = GENERATE("BPE", "unigram", "WordPiece", "words", "spaced", "subword-nmt", "byte fallback",
                                      "gpt2", "roberta", "bert_cased", "t5", "mbart50", "stripped", "converted");
    CAPTURE(kind);
    const Tokenizer tokenizer = tokenizer_of(kind);
    std::mt19937 random(7);
    std::size_t bytes = 0;
    for (int trial = 0; trial < 60; ++trial) {
        Ids ids(25);
        for (std::int32_t& id : ids) {
            id = static_cast<std::int32_t>(random() % static_cast<unsigned>(tokenizer.size()));
        }
        CAPTURE(ids);
        bytes += settled(tokenizer, ids).back().size();
    }
    CHECK(bytes > 0);
}

TEST_CASE("a part of a character waits for the rest", "[growing_text]") {
    const Tokenizer gpt2 = tokenizer_of("gpt2");
    const auto bytes = [&](const Texts& characters) { return ids_of_pieces(gpt2, characters); };
    // The bytes of a and U+1F642, and then those of a part of it and a.
    CHECK(settled(gpt2, bytes({"a", "\u00f0", "\u0141", "\u013b", "\u0124"})) ==
          Texts{"a", "a", "a", "a", "a\U0001F642"});
    CHECK(settled(gpt2, bytes({"\u00f0", "\u0141", "a"})) == Texts{"", "", "\ufffda"});

    const Tokenizer fallback = tokenizer_of("byte fallback");
    const Texts euro{"a", "<0xE2>", "<0x82>", "<0xAC>", "\u2581", "<0xC3>", "a"};
    CHECK(settled(fallback, ids_of_pieces(fallback, euro)) ==
          Texts{"a", "a", "a", "a\u20ac", "a\u20ac", "a\u20ac", "a\u20ac \ufffda"});

    // Sentinels are a part of what a model writes.
    const Tokenizer t5 = tokenizer_of("t5");
    GrowingText written(t5, Sentinels::Shown);
    for (const std::int32_t id : ids_of_pieces(t5, {"<extra_id_0>", "\u2581the", "</s>"})) {
        written.add(id);
    }
    CHECK(written.settled() == "<extra_id_0> the");

    // Of adjacent bytes all are text or none is, so that all wait.
    const Tokenizer converted = tokenizer_of("converted");
    CHECK(settled(converted, ids_of_pieces(converted, {"s", "<0x41>", "<0xC3>", "s"})) ==
          Texts{"s", "s", "s", "s\ufffd\ufffds"});
}
