#include "text/bpe_dropout.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "text/tokenizer_training.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

const std::vector<std::string> kLines{"Die Verhandlungen über den Vertrag wurden gestern unterbrochen.",
                                      "The negotiations about the contract were interrupted yesterday.",
                                      "Sie verhandeln weiter, und wir warten auf den neuen Vertrag.",
                                      "They go on negotiating, and we are waiting for the new contract."};

Tokenizer tokenizer_of(TokenizerType type) {
    return Tokenizer::from_bytes(
        train_tokenizer({.sentences = kLines, .type = type, .vocabulary_size = type == TokenizerType::Bpe ? 140 : 55}),
        "pieces");
}

}  // namespace

TEST_CASE("without dropout the pieces are SentencePiece's own", "[bpe_dropout]") {
    const Tokenizer tokenizer = tokenizer_of(TokenizerType::Bpe);
    const BpeDropout merges(tokenizer, 0.0);
    Random random(1);
    for (std::string line : kLines) {
        line += " Kontrakt, wernen tera \u4e2d";  // words and a character that are not in the training text
        const std::vector<std::int32_t> ids = tokenizer.encode(line);
        CHECK(merges.sample(ids, random) == ids);
    }
    CHECK(merges.sample({}, random).empty());
}

TEST_CASE("dropout splits the same text into other pieces, depending only on the seed", "[bpe_dropout]") {
    const Tokenizer tokenizer = tokenizer_of(TokenizerType::Bpe);
    const BpeDropout dropout(tokenizer, 0.2);
    const std::vector<std::int32_t> ids = tokenizer.encode(kLines[0]);
    std::set<std::vector<std::int32_t>> seen;
    std::size_t pieces = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Random random(seed);
        Random same(seed);
        const std::vector<std::int32_t> sampled = dropout.sample(ids, random);
        CHECK(sampled == dropout.sample(ids, same));
        CHECK(tokenizer.decode(sampled) == kLines[0]);
        seen.insert(sampled);
        pieces += sampled.size();
    }
    CHECK(seen.size() > 25);
    CHECK(pieces > 50 * ids.size());      // smaller pieces
    CHECK(pieces < 50 * 2 * ids.size());  // but by far not only characters
}

TEST_CASE("a dropout near 1 leaves single characters", "[bpe_dropout]") {
    const Tokenizer tokenizer = tokenizer_of(TokenizerType::Bpe);
    Random random(1);
    const std::vector<std::int32_t> sampled =
        BpeDropout(tokenizer, 0.999999).sample(tokenizer.encode("den Vertrag"), random);
    CHECK(sampled.size() == 12);  // eleven characters, and the mark before the first word
}

TEST_CASE("unknown characters stay as they are", "[bpe_dropout]") {
    const Tokenizer tokenizer = tokenizer_of(TokenizerType::Bpe);
    Random random(1);
    const std::vector<std::int32_t> ids = tokenizer.encode("\u4e2d\u6587");
    REQUIRE(ids.back() == tokenizer.unk_id());
    CHECK(BpeDropout(tokenizer, 0.5).sample(ids, random).back() == tokenizer.unk_id());
}

TEST_CASE("a tokenizer that is not BPE is rejected", "[bpe_dropout]") {
    const Tokenizer unigram = tokenizer_of(TokenizerType::Unigram);
    CHECK(unigram.type() == TokenizerType::Unigram);
    CHECK(tokenizer_of(TokenizerType::Bpe).type() == TokenizerType::Bpe);
    CHECK_THAT(error_of([&] { BpeDropout(unigram, 0.1); }), Contains("'pieces'") && Contains("bpe_dropout"));
    CHECK_THROWS_AS(BpeDropout(tokenizer_of(TokenizerType::Bpe), 1.0), CheckFailure);
}
