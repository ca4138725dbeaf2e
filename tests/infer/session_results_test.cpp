// Results of sessions beside texts: likeliest tokens, scores and fillings. Memory that is too small.
#include <map>
#include <string>
#include <vector>

#include "infer/filler.h"
#include "infer/forced_text.h"
#include "registry/registry.h"
#include "searched_row.h"
#include "small_backend.h"
#include "support/check.h"
#include "tests/infer/score_pairs.h"

using namespace headscope;

TEST_CASE("the likeliest tokens are reported beside those that are written", "[session]") {
    const auto backend = open_device("cpu");
    const LoadedModel model = tiny_translator(*backend, context_of(48));
    SearchOptions search = exactly(6);
    search.alternatives = 4;
    search.echo = true;
    SearchedRow row(model, {"the small dog sees", search}, 1, true);
    SearchedRow plain(model, {"the small dog sees", exactly(6)});
    const auto session = model.begin({row.part(), plain.part()}, {});
    finish(*session);
    const Translation& found = row.result().n_best.front();
    CHECK(plain.result().target_ids == found.ids);
    CHECK(plain.result().n_best.front().alternatives.empty());
    CHECK(plain.result().echo.empty());
    REQUIRE(found.alternatives.size() == found.ids.size());
    for (std::size_t i = 0; i < found.ids.size(); ++i) {
        const std::vector<TokenChance>& likeliest = *found.alternatives[i];
        REQUIRE(likeliest.size() == 4);
        bool written = false;
        for (std::size_t rank = 0; rank < likeliest.size(); ++rank) {
            CHECK((rank == 0 || likeliest[rank].log_probability <= likeliest[rank - 1].log_probability));
            if (likeliest[rank].token == found.ids[i]) {
                written = true;
                CHECK(likeliest[rank].log_probability == Approx(found.token_log_probabilities[i]));
            }
        }
        CHECK((written || likeliest.back().log_probability >= found.token_log_probabilities[i]));
    }
    std::vector<WrittenToken> told;
    for (const TextEvent& event : session->take_events()) {
        told.resize(event.kept_tokens);
        told.insert(told.end(), event.tokens.begin(), event.tokens.end());
    }
    REQUIRE(told.size() == found.ids.size());
    CHECK(told[2].token == found.ids[2]);
    CHECK(told[2].alternatives.at(1).token == found.alternatives[2]->at(1).token);

    // The prompt's own probabilities, as those of a text with the same beginning.
    Context ctx{.backend = *backend};
    const std::vector<std::int32_t>& prompt = row.result().source_ids;
    const std::vector<std::vector<std::int32_t>> texts{{prompt.begin() + 1, prompt.end()}};
    const auto forced = force_texts(ctx, model.models(), texts).front();
    const std::vector<WrittenToken>& echo = row.result().echo;
    REQUIRE(echo.size() == prompt.size() - 1);
    for (std::size_t i = 0; i < echo.size(); ++i) {
        CHECK(echo[i].token == prompt[i + 1]);
        CHECK(echo[i].log_probability == Approx(forced[i].log_probability));
        REQUIRE(echo[i].alternatives.size() == 4);
        CHECK(echo[i].alternatives.front().log_probability == Approx(forced[i].best_log_probability));
    }
}

TEST_CASE("a prompt of ids is continued as its text is", "[session]") {
    const auto backend = open_device("cpu");
    const LoadedModel model = tiny_translator(*backend, context_of(48));
    const DecodingOptions options{.search = exactly(6)};
    const TextResult text = translate_line(model, "the small dog", options);
    const auto by_ids = model.translate(
        {{.text = {}, .number = 1, .ids = text.source_ids}, {.text = {}, .number = 2, .ids = {4, 100'000}}}, options);
    check_result(by_ids[0], text);
    CHECK_THAT(by_ids[1].problem, Catch::Contains("the prompt has the id 100000, but the model's are 0 to"));
    const auto translated = tiny_translator(*backend).translate({{.text = {}, .ids = {4, 5}}}, options);
    CHECK_THAT(translated[0].problem, Catch::Contains("give a text"));
}

TEST_CASE("a full memory halves a session, and no row is lost", "[session]") {
    SmallBackend backend(open_device("cpu"), std::int64_t{1} << 40);
    const LoadedModel model = tiny_translator(backend, context_of(128));
    std::vector<SearchedRow> rows;
    for (std::size_t i = 0; i < kTexts.size(); ++i) {
        rows.emplace_back(model, Wish{kTexts[i], exactly(80)}, i + 1, true);
    }
    std::vector<SearchedRow> before;
    for (const std::string& prompt : kTexts) {
        before.emplace_back(model, Wish{prompt, exactly(80)});
    }
    backend.forget();
    finish(*model.begin(parts_of(before), {}));
    backend.allow(backend.largest() - 1);  // which is wanted once there are some tokens
    backend.forget();
    const auto session = model.begin(parts_of(rows), {});
    finish(*session);
    backend.allow(std::int64_t{1} << 40);
    CHECK(session->take_done().size() == rows.size());
    std::map<LinePart*, std::string> told;
    bool begun_anew = false;
    for (const TextEvent& event : session->take_events()) {
        std::string& text = told[event.part];
        REQUIRE(event.kept_bytes <= text.size());
        begun_anew = begun_anew || event.kept_bytes < text.size();
        text.replace(event.kept_bytes, std::string::npos, event.text);
    }
    CHECK(begun_anew);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        CHECK(told[rows[i].part()] == rows[i].result().text);
        check_alone(model, {kTexts[i], exactly(80)}, i + 1, rows[i].result());
    }
    backend.allow(64);
    SearchedRow single(model, {"the small dog", exactly(80)});
    CHECK_THROWS_AS(finish(*model.begin({single.part()}, {})), OutOfMemory);
}

TEST_CASE("scores and fillings step, too", "[session]") {
    const auto backend = open_device("cpu");
    Context ctx{.backend = *backend};
    for (const Architecture family : {Architecture::CausalLm, Architecture::EncoderDecoder, Architecture::MaskedLm}) {
        const LoadedModel model = tiny_translator(
            *backend, family == Architecture::EncoderDecoder ? tiny_config() : tiny_language_config(family));
        ScoreSession session(ctx, model, kTexts, kTexts, 8, {}, 3);
        int steps = 1;
        std::int64_t tokens = 0;
        for (; session.step(); ++steps) {
            CHECK(session.tokens() > tokens);
            tokens = session.tokens();
        }
        CHECK(steps >= 3);
        const auto scored = session.take();
        for (std::size_t i = 0; i < kTexts.size(); ++i) {
            const auto alone = score_pairs(ctx, model, {kTexts[i]}, {kTexts[i]}, 1024);
            CHECK(scored[i].target_ids == alone.front().target_ids);
            CHECK(scored[i].log_probability == Approx(alone.front().log_probability));
            REQUIRE(scored[i].alternatives.size() == scored[i].target_ids.size());
            for (std::size_t token = 0; token < scored[i].target_ids.size(); ++token) {
                const std::vector<TokenChance>& likeliest = scored[i].alternatives[token];
                REQUIRE(likeliest.size() == 3);
                CHECK(likeliest[0].log_probability >= likeliest[2].log_probability);
                CHECK((likeliest[0].token != scored[i].target_ids[token] ||
                       likeliest[0].log_probability == Approx(scored[i].log_probabilities[token])));
            }
            CHECK(alone.front().alternatives.empty());
        }
        if (family == Architecture::MaskedLm) {
            const Filler filler(*backend, model);
            FillSession filling(filler, filler.encode("the [MASK] dog [MASK] the [MASK]", kMaskText).ids, 3, true);
            CHECK(filling.step());
            CHECK(filling.step());
            CHECK_FALSE(filling.step());
            CHECK(filling.take().masks.size() == 3);
        }
    }
}
