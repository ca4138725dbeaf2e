// Texts as vectors.
#include <cmath>

#include "tests/capi/handles.h"

using namespace headscope_tests;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

hs_array vectors_of(const Result& result, std::size_t input) {
    hs_array array{};
    array.size = sizeof(array);
    REQUIRE(hs_result_array(result.get(), input, 0, "vectors", &array, nullptr) == HS_OK);
    CHECK(array.type == HS_FLOAT32);
    CHECK(array.rank == 2);
    return array;
}

}  // namespace

TEST_CASE("vectors of texts and words are arrays, in which the JSON says what each row is") {
    const Model model = opened("en-masked");
    const Result lines = result_of(submit(model, HS_EMBED, {"The cat sleeps.", "", "No."}));
    CHECK(vectors_of(lines, 0).shape[0] == 1);
    CHECK(hs_result_status(lines.get(), 1) == HS_INVALID);
    CHECK_THAT(text_of(hs_result_problem(lines.get(), 1)), Contains("the text is empty"));
    CHECK(answers(lines).at(2).at("row") == 0);
    const json word{{"unit", "word"}, {"after_layer", 0}};
    const Result words = result_of(submit(model, HS_EMBED, {"The cat sleeps."}, word));
    const hs_array array = vectors_of(words, 0);
    CHECK(array.shape[0] == 4);
    CHECK(array.shape[1] == vectors_of(lines, 0).shape[1]);
    CHECK(std::isfinite(static_cast<const float*>(array.data)[4 * array.shape[1] - 1]));
    CHECK(answers(words).at(0).at("words").at(1) == json{{"word", "cat"}, {"row", 1}});
}

TEST_CASE("vectors are refused for layers and tokens that a model lacks") {
    const Model model = opened("en-de");
    CHECK_THAT(submit(model, HS_EMBED, {"A house."}, {{"after_layer", 7}}).message, Contains("to 6"));
    CHECK_THAT(submit(model, HS_EMBED, {"A house."}, {{"pooling", "first"}}).message, Contains("no class token"));
    CHECK_THAT(submit(model, HS_EMBED, {"A house."}, {{"beam", 4}}).message, Contains("beam"));
    const Texts targets{"Ein Haus."};
    CHECK(submit(model, HS_EMBED, {"A house."}, {}, &targets).status == HS_INVALID);
}
