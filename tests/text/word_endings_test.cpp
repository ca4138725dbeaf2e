// Rare words by how they end.
#include "text/word_endings.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "support/random.h"
#include "tests/io/temporary_folder.h"
#include "text/piece_dropout.h"
#include "text/tokenizer.h"
#include "text/tokenizer_training.h"

using namespace headscope;
using Catch::Matchers::Contains;
using Texts = std::vector<std::string>;

namespace {

const Texts kRareWords = {"the running jumping dog", "the singing Bmp4 cat", "the Bmp7 cat the"};

Tokenizer ended_words(std::int64_t endings = 2) {
    return Tokenizer::from_bytes(train_tokenizer({.sentences = kRareWords,
                                                  .type = TokenizerType::Words,
                                                  .vocabulary_size = 40,
                                                  .minimum = 2,
                                                  .endings = endings}),
                                 "endings");
}

}  // namespace

TEST_CASE("a word has endings of up to five letters", "[endings]") {
    CHECK(endings_of("running") == Texts{"…nning", "…ning", "…ing", "…ng", "…g", "…"});
    CHECK(endings_of("Bmp24") == Texts{"A…Bmp00", "A…mp00", "A…p00", "A…00", "A…0", "A…"});
    CHECK(endings_of("é") == Texts{"…é", "…"});
    CHECK(endings_of("Éa") == Texts{"A…Éa", "A…a", "A…"});
    CHECK(endings_of("") == Texts{"…"});
}

TEST_CASE("frequent endings of rare words are pieces", "[endings]") {
    const Texts endings = frequent_endings(kRareWords, 2, 2);
    // "running", "jumping" and "singing" once each; "Bmp4" and "Bmp7" have one ending.
    CHECK(endings == Texts{"…", "…g", "…ing", "…ng", "A…", "A…0", "A…Bmp0", "A…mp0", "A…p0"});
    const Tokenizer words = ended_words();
    CHECK(words.encode_pieces("the barking cat") == Texts{"the", "…ing", "cat"});
    CHECK(words.encode_pieces("Bmp9 Zoo oh") == Texts{"A…Bmp0", "A…", "…"});
    CHECK(words.encoded_spans("the barking") == std::vector<ByteSpan>{{0, 3}, {4, 11}});
    // The file makes the same tokenizer again.
    const Tokenizer again = Tokenizer::from_bytes(words.files().segmenter, "again");
    CHECK(again.encode("the barking Bmp9") == words.encode("the barking Bmp9"));
    CHECK(ended_words(0).encode("barking") == std::vector<std::int32_t>{ended_words(0).unk_id()});
}

TEST_CASE("endings leave room for words", "[endings]") {
    CHECK_THAT(error_of([] {
                   train_tokenizer({.sentences = kRareWords,
                                    .type = TokenizerType::Words,
                                    .vocabulary_size = 12,
                                    .minimum = 2,
                                    .endings = 2});
               }),
               Contains("9 endings leave no room for words"));
}

TEST_CASE("dropped words are their endings", "[endings]") {
    const Tokenizer words = ended_words();
    const std::vector<std::int32_t> ids = words.encode("the cat singing");
    Random random(1);
    CHECK(WordDropout(words, 0.0).sample(ids, random) == ids);
    std::vector<std::int32_t> all = WordDropout(words, 0.999999).sample(ids, random);
    CHECK(words.piece(all[0]) == "…");
    CHECK(words.piece(all[1]) == "…");
    CHECK(words.piece(all[2]) == "…ing");
    Random one(7);
    Random same(7);
    CHECK(WordDropout(words, 0.5).sample(ids, one) == WordDropout(words, 0.5).sample(ids, same));
    CHECK_THAT(error_of([] { WordDropout(ended_words(0), 0.1); }), Contains("'endings'") && Contains("word_dropout"));
}
