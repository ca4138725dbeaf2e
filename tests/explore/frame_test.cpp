// Exploring models whose texts have other tokens around them.
#include <catch2/catch.hpp>

#include "tests/explore/tiny_explorer.h"
#include "tests/ops/devices.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

ModelConfig framed_config() {
    ModelConfig config = tiny_config();
    config.frame.source_begin = {kTargetLanguage};
    config.frame.source_end = {};
    config.frame.target_begin = {21, 23};
    config.frame.languages = {{"deu", 22}};
    config.frame.suppressed_ids = {0, 24};
    config.frame.bos_id = config.frame.eos_id;
    return config;
}

}  // namespace

TEST_CASE("A search and a pass show the tokens around texts and count only what the model chose", "[explore]") {
    const std::string device = GENERATE(from_range(conformance::devices_under_test()));
    const int beam = GENERATE(1, 4);
    INFO(device << ", beam " << beam);
    const TinyExplorer tiny(device, framed_config());
    ExploreRequest request = tiny_request(beam);
    CHECK_THAT(tiny.explorer.explore(request).problem, Contains("--target-language: deu"));
    request.search.target_language = "deu";
    const Exploration found = tiny.explorer.explore(request, [](const Explorer::Snapshot& so_far) {
        const Exploration part = so_far();
        CHECK(part.record.target_in.size() == part.record.target_out.size());
        check_rows(part.record);
        return true;
    });
    REQUIRE(found.problem.empty());
    const Tokenizer& tokenizer = *tiny.explorer.model().target_tokenizer;
    CHECK(found.record.source.front() == RecordedToken{tokenizer.piece(22), TokenKind::Begin});
    CHECK(found.record.source.back().kind != TokenKind::End);
    CHECK(found.record.target_in[0] == RecordedToken{"<BOS>", TokenKind::Begin});
    CHECK(found.record.target_in[1] == RecordedToken{tokenizer.piece(21), TokenKind::Begin});
    REQUIRE(found.steps.size() == found.record.target_out.size());
    CHECK(found.steps[0].token == 21);
    CHECK(found.steps[0].log_probability == 0.0);
    CHECK(found.steps[1].token == 23);
    check_rows(found.record);

    const Exploration given = tiny.explorer.explore(with_target(request, found));
    REQUIRE(given.problem.empty());
    CHECK(given.translation == found.translation);
    check_same(found, given);
    CHECK(found.score == Approx(given.score).margin(1e-4));
    const DecodingOptions options{.search = tiny.translator.search_options(request.search)};
    const TextResult translated = translate_line(tiny.translator, request.source, options);
    CHECK(translated.text == found.translation);
    CHECK(translated.target_ids == output_of(found));
    CHECK(translated.log_probability == Approx(found.log_probability).margin(1e-4));
    CHECK(tiny.explorer.importance(with_target(request, found)).log_probability ==
          Approx(found.log_probability).margin(1e-4));
}

TEST_CASE("A text without a beginning is explored from its second piece on", "[explore]") {
    ModelConfig config = tiny_language_config(Architecture::CausalLm);
    config.frame.bos_id = -1;
    const TinyExplorer tiny("cpu", config);
    const std::vector<std::int32_t> ids = tiny.explorer.model().target_tokenizer->encode("the small dog");
    const Exploration prompt = tiny.explorer.explore({.source = "the small dog", .target = ""});
    REQUIRE(prompt.problem.empty());
    CHECK(prompt.record.target_in.size() == ids.size());
    REQUIRE(prompt.steps.size() == ids.size() - 1);
    CHECK(prompt.steps[0].token == ids[1]);
    const Exploration found = tiny.explorer.explore({.source = "the small dog", .search = {.max_extra = 4}});
    REQUIRE(found.problem.empty());
    CHECK(found.prompt == ids.size() - 1);
    CHECK(found.steps.size() > found.prompt);
    CHECK(found.steps.size() == found.record.target_out.size());
    const TextResult completed =
        translate_line(tiny.translator, "the small dog", {.search = tiny.translator.search_options({.max_extra = 4})});
    CHECK(output_of(found) == completed.target_ids);
    CHECK(found.log_probability == Approx(completed.log_probability).margin(1e-4));
    CHECK_THAT(tiny.explorer.explore({.source = ""}).problem, Contains("the prompt is empty"));
}
