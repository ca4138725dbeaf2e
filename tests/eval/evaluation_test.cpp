#include "eval/evaluation.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "infer/forced_scores.h"
#include "registry/registry.h"
#include "tests/infer/tiny_model.h"

using namespace headscope;
using Lines = std::vector<std::string>;

namespace {

std::string words(std::size_t count) {
    std::string line;
    for (std::size_t i = 0; i < count; ++i) {
        line += i == 0 ? "w" : " w";
    }
    return line;
}

}  // namespace

TEST_CASE("scores by source length use only sentences of that length") {
    const Lines sources{words(5), words(6), words(1), words(41), words(0), words(40), words(10)};
    const Lines translations{"a b c d e", "f g h i j", "k l m n", "o p q r", "", "s t u v w", "x"};
    const Lines reference{"a b c d e", "f g h i z", "k l m n", "o p q r", "", "s t u v", "y"};
    const auto by_length = score_by_length(sources, translations, {reference}, {});
    REQUIRE(by_length.size() == 4);
    CHECK(by_length[0].least == 0);
    CHECK(by_length[0].most == 5);
    CHECK(by_length[1].least == 6);
    CHECK(by_length[1].most == 10);
    CHECK(by_length[2].least == 31);
    CHECK(by_length[2].most == 40);
    CHECK(by_length[3].least == 41);
    CHECK_FALSE(by_length[3].most);
    CHECK(by_length[0].scores.sentences == 3);
    CHECK(by_length[0].scores.exact_matches == 3);
    CHECK(by_length[0].scores.bleu.score == Approx(100.0));
    CHECK(by_length[1].scores.sentences == 2);
    CHECK(by_length[1].scores.bleu.score == corpus_bleu({"f g h i j", "x"}, Lines{"f g h i z", "y"}).score);
    CHECK(by_length[1].scores.chrf.score == corpus_chrf({"f g h i j", "x"}, {Lines{"f g h i z", "y"}}).score);
    CHECK(by_length[3].scores.sentences == 1);
}

TEST_CASE("case and tokenization apply to all scores that use them") {
    const BleuOptions options{.tokens = BleuTokens::None, .lowercase = true};
    const Scores scores = score_translations({"A b c d ."}, {Lines{"a B c d ."}}, options);
    CHECK(scores.bleu.score == Approx(100.0));
    CHECK(scores.bleu.options.tokens == BleuTokens::None);
    CHECK(scores.chrf.score == Approx(100.0));
    CHECK(scores.exact_matches == 0);
}

TEST_CASE("a model scores every reference of every source that fits") {
    const auto backend = open_device("cpu");
    const LoadedModel translator = tiny_translator(*backend, 24);
    const Lines sources{"the small dog", "", "a cat sleeps on the mat", words(60), "the mat", "\u3164", "the dog"};
    const Lines first{"der kleine hund", "nichts", "eine katze", "eine", words(60), "nichts", "\u3000"};
    const Lines second{"ein hund", "nichts", "die katze liegt", "eine", "auf der matte", "nichts", ""};
    const ForcedReferences forced = force_references(*backend, translator, sources, {first, second}, {});
    // Skipped: the empty sources and the long one twice each, the empty references, the long reference once.
    CHECK(forced.left_out == 9);

    const ModelDirectory& model = translator.model();
    Context ctx{.backend = *backend};
    double nll = 0.0;
    std::int64_t tokens = 0;
    for (const auto& [source, reference] :
         {std::pair{0, first[0]}, {2, first[2]}, {0, second[0]}, {2, second[2]}, {4, second[4]}}) {
        auto from = model.source_tokenizer->encode(sources[static_cast<std::size_t>(source)]);
        auto to = model.target_tokenizer->encode(reference);
        from.push_back(model.config.frame.eos_id);
        to.push_back(model.config.frame.eos_id);
        for (auto next = to.begin(); next != to.end(); ++next) {
            const auto scores = next_log_probabilities(ctx, translator.transformer(), from, {to.begin(), next});
            nll -= scores[static_cast<std::size_t>(*next)];
            ++tokens;
        }
    }
    CHECK(forced.statistics.tokens() == tokens);
    CHECK(forced.statistics.nll() == Approx(nll / static_cast<double>(tokens)).epsilon(1e-5));
}
