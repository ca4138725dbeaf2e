#include "eval/text_evaluation.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "tests/io/temporary_folder.h"
#include "text/tokenizer_training.h"

using namespace headscope;

namespace {

std::shared_ptr<const Tokenizer> tiny_tokenizer() {
    return std::make_shared<const Tokenizer>(Tokenizer::from_bytes(
        train_tokenizer({.sentences = {"the small dog sees the big cat, a cat sleeps."}, .vocabulary_size = 40}),
        "test vocabulary"));
}

}  // namespace

TEST_CASE("documents are encoded with the bytes and words of their normalised text") {
    const TemporaryFolder folder;
    const std::string file = folder.file("text.txt");
    std::ofstream(file) << "the  small dog\nsees.\n\n\n a cat \u00e9\n";
    const auto tokenizer = tiny_tokenizer();
    const auto documents = EncodedDocuments(file, DocumentForm::Paragraph, tokenizer).next();
    REQUIRE(documents.size() == 2);
    CHECK(documents[0].bytes == 19);  // "the small dog sees."
    CHECK(documents[0].words == 4);
    CHECK(documents[1].bytes == 8);  // "a cat \u00e9"
    CHECK(documents[1].words == 3);
    std::vector<std::int32_t> pieces = tokenizer->encode("the small dog");
    const std::vector<std::int32_t> more = tokenizer->encode("sees.");
    pieces.insert(pieces.end(), more.begin(), more.end());
    CHECK(documents[0].pieces == pieces);
    // Without the first piece, "the", if it is given.
    const auto given = EncodedDocuments(file, DocumentForm::Paragraph, tokenizer, true).next();
    CHECK(given[0].bytes == 19 - static_cast<std::int64_t>(tokenizer->decode({pieces[0]}).size()));
    CHECK(given[0].words == 3);
    CHECK(given[0].pieces == pieces);
    EncodedDocuments lines(file, DocumentForm::Line, tokenizer);
    CHECK(lines.next().size() == 3);
    CHECK(lines.next().empty());
}

TEST_CASE("all documents are read, some thousand pieces at a time") {
    const TemporaryFolder folder;
    const std::string file = folder.file("text.txt");
    {
        std::ofstream text(file);
        for (int i = 0; i < 3000; ++i) {
            text << "the small dog sees the big cat\n";
        }
    }
    EncodedDocuments input(file, DocumentForm::Line, tiny_tokenizer());
    std::size_t documents = 0;
    int calls = 0;
    for (auto some = input.next(); !some.empty(); some = input.next()) {
        documents += some.size();
        ++calls;
    }
    CHECK(documents == 3000);
    CHECK(calls > 1);
}

TEST_CASE("perplexity per word and bits per byte divide by what the text has") {
    TextEvaluation evaluation;
    const ForcedToken half{.log_probability = std::log(0.5), .best_log_probability = std::log(0.5), .likeliest = true};
    evaluation.add({{.pieces = {5, 3, 6}, .bytes = 12, .words = 2}, {.pieces = {5}, .bytes = 4, .words = 1}},
                   {{half, half, half, half}, {half, half}}, 3);
    CHECK(evaluation.documents == 2);
    CHECK(evaluation.pieces == 4);
    CHECK(evaluation.unknown == 1);
    CHECK(evaluation.statistics.tokens() == 6);
    CHECK(evaluation.statistics.perplexity() == Approx(2.0));
    CHECK(evaluation.perplexity_per_word() == Approx(4.0));  // 6 bits over 3 words
    CHECK(evaluation.bits_per_byte() == Approx(6.0 / 16.0));
}
