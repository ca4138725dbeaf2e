#include "data/response_encoder.h"

#include <catch2/catch.hpp>

#include "data/batch.h"
#include "support/check.h"
#include "text/tokenizer_training.h"

using namespace headscope;

namespace {

std::shared_ptr<const Tokenizer> words_with(std::vector<std::string> controls) {
    TokenizerTraining training{.sentences = {"a b c d", "a b c d"}, .type = TokenizerType::Bpe, .vocabulary_size = 12};
    training.vocabulary_size += static_cast<std::int32_t>(controls.size());
    training.control_pieces = std::move(controls);
    return std::make_shared<const Tokenizer>(Tokenizer::from_bytes(train_tokenizer(training), "words"));
}

// The pieces of a text whose next one is labelled, in brackets.
std::string labelled(const Tokenizer& tokenizer, const Example& example) {
    std::string text;
    for (std::size_t i = 0; i < example.target.size(); ++i) {
        const bool label = i > 0 && example.labels[i - 1] != kNoTarget;
        text += (label ? "[" : "") + tokenizer.piece(example.target[i]) + (label ? "]" : "");
        CHECK((!label || example.labels[i - 1] == example.target[i]));
    }
    return text;
}

}  // namespace

TEST_CASE("a response follows its prompt, and it and its end have labels", "[responses]") {
    const auto tokenizer = words_with({});
    const ResponseEncoder encoder(tokenizer, {.bos = 1, .eos = 2}, kNoTemplate);
    const Example one =
        encoder.encode({.prompt = {{ChatRole::User, "a"}}, .plain = true, .texts = {"b"}, .ranks = {1}}, "");
    CHECK(labelled(*tokenizer, one) == "<s>\u2581a[\u2581b][</s>]");
    CHECK(one.ranks.empty());
    CHECK(one.starts.empty());
    const Example two =
        encoder.encode({.prompt = {{ChatRole::User, "a"}}, .plain = true, .texts = {"b", "c"}, .ranks = {1, 2}}, "");
    CHECK(labelled(*tokenizer, two) == "<s>\u2581a[\u2581b][</s>]<s>\u2581a[\u2581c][</s>]");
    CHECK(two.starts == std::vector<std::int32_t>{0, 4});
    CHECK(two.ranks == std::vector<std::int32_t>{1, 2});
    CHECK(longest_text(two) == 4);
}

TEST_CASE("a model whose texts have no start has none here, and its end is labelled if it is the pad", "[responses]") {
    const auto tokenizer = words_with({});
    const ResponseEncoder encoder(tokenizer, {.pad = 2, .bos = -1, .eos = 2}, kNoTemplate);
    const Example one =
        encoder.encode({.prompt = {{ChatRole::User, "a"}}, .plain = true, .texts = {"b"}, .ranks = {1}}, "");
    CHECK(labelled(*tokenizer, one) == "\u2581a[\u2581b][</s>]");
}

TEST_CASE("messages need a template", "[responses]") {
    const ResponseEncoder encoder(words_with({}), {}, kNoTemplate);
    CHECK_THROWS_WITH(encoder.encode({.prompt = {{ChatRole::User, "a"}}, .texts = {"b"}, .ranks = {1}}, "'f' line 4"),
                      Catch::StartsWith("'f' line 4: messages need a chat template"));
}
