// Text that models write, score, fill and split.
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

#include "tests/capi/handles.h"

using namespace headscope_tests;
using Catch::Matchers::Contains;
using nlohmann::json;

TEST_CASE("lines are translated in order, and a bad one has a problem") {
    const Model model = opened("en-de");
    const Result result = result_of(submit(model, HS_TRANSLATE, {"The cat sleeps.", "bad \xff byte", ""}));
    REQUIRE(hs_result_count(result.get()) == 3);
    CHECK(first_text(result) == "Die Katze schläft.");
    CHECK(hs_result_choices(result.get(), 0) == 1);
    CHECK(hs_result_choices(result.get(), 1) == 0);
    CHECK_THAT(text_of(hs_result_problem(result.get(), 1)), Contains("UTF-8"));
    CHECK(text_of(hs_result_problem(result.get(), 2)).empty());
    const json all = answers(result);
    CHECK(all.at(0).at("translation") == "Die Katze schläft.");
    CHECK(all.at(1).at("translation").is_null());
    CHECK(hs_result_number(result.get(), 0, 0, HS_LOG_PROBABILITY) == all.at(0).at("log_probability"));
    CHECK(std::isnan(hs_result_number(result.get(), 0, 1, HS_LOG_PROBABILITY)));
    CHECK(text_of(hs_result_text(result.get(), 7, 0)).empty());
    const hs_array tokens = array_of(result, "tokens");
    CHECK(tokens.type == HS_INT32);
    CHECK(tokens.shape[0] == array_of(result, "token_log_probabilities").shape[0]);
}

TEST_CASE("n-best translations come best first") {
    const Model model = opened("en-de");
    const Result result = result_of(submit(model, HS_TRANSLATE, {"The cat sleeps."}, {{"beam", 4}, {"n_best", 3}}));
    REQUIRE(hs_result_choices(result.get(), 0) == 3);
    CHECK(hs_result_number(result.get(), 0, 0, HS_SEARCH_SCORE) >=
          hs_result_number(result.get(), 0, 1, HS_SEARCH_SCORE));
    CHECK(answers(result).at(0).at("n_best").size() == 3);
}

TEST_CASE("words are linked with those of the output") {
    const Model model = opened("en-de");
    const Result plain = result_of(submit(model, HS_TRANSLATE, {"The cat sleeps.", ""}));
    const Result result = result_of(submit(model, HS_TRANSLATE, {"The cat sleeps.", ""}, {{"alignment", true}}));
    CHECK(first_text(result) == first_text(plain));
    const hs_array links = array_of(result, "alignment");
    CHECK(links.type == HS_INT64);
    REQUIRE(links.shape[0] == 3);
    const auto* const values = static_cast<const std::int64_t*>(links.data);
    CHECK(std::vector(values, values + 4) == std::vector<std::int64_t>{0, 0, 1, 1});
    CHECK(answers(result).at(0).at("alignment").size() == 3);
    CHECK(answers(result).at(1).at("alignment").empty());
    CHECK_THAT(submit(model, HS_TRANSLATE, {"a"}, {{"alignment", true}, {"stream", true}}).message,
               Contains("leave \"stream\" out"));
    CHECK_THAT(submit(model, HS_TRANSLATE, {"a"}, {{"alignment_layer", 1}}).message, Contains("needs \"alignment\""));
    CHECK_THAT(submit(model, HS_TRANSLATE, {"a"}, {{"alignment", true}, {"alignment_layer", 99}}).message,
               Contains("99"));
}

TEST_CASE("a stream's events make up the result") {
    const Model model = opened("en-causal");
    const Asked asked = submit(model, HS_COMPLETE, {"The weather", "My house"}, {{"stream", true}, {"max_extra", 12}});
    REQUIRE(asked.status == HS_OK);
    std::vector<std::string> written(2);
    std::vector<std::size_t> tokens(2);
    int done = 0;
    for (;;) {
        hs_event event{};
        event.size = sizeof(event);
        const hs_status status = hs_request_next(asked.request.get(), -1, &event, nullptr);
        if (status == HS_END) {
            break;
        }
        REQUIRE(status == HS_OK);
        if (event.kind == HS_TEXT_WRITTEN) {
            written[event.input] = written[event.input].substr(0, event.kept_bytes) + text_of(event.text);
            tokens[event.input] = event.kept_tokens + event.token_count;
        } else {
            ++done;
        }
    }
    const Result result = result_of(asked);
    CHECK(done == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(written[i] == text_of(hs_result_text(result.get(), i, 0)));
        CHECK(tokens[i] == answers(result).at(i).at("tokens").size());
    }
}

TEST_CASE("a prompt of ids is completed as its text") {
    const Model model = opened("en-causal");
    const Result pieces = result_of(submit(model, HS_TOKENIZE, {"The weather"}));
    const hs_array ids = array_of(pieces, "tokens");
    json prompt = json::array();
    for (std::int64_t i = 0; i < ids.shape[0]; ++i) {
        prompt.push_back(static_cast<const std::int32_t*>(ids.data)[i]);
    }
    const Result joined = result_of(submit(model, HS_DETOKENIZE, {prompt.dump()}));
    CHECK(first_text(joined) == "The weather");
    const Result spans = result_of(submit(model, HS_TOKENIZE, {"The weather"}));
    const auto* const bytes = static_cast<const std::int64_t*>(array_of(spans, "spans").data);
    CHECK(bytes[0] == 0);
    CHECK(bytes[2 * ids.shape[0] - 1] == 11);
    CHECK_THAT(text_of(hs_result_problem(result_of(submit(model, HS_DETOKENIZE, {"[1, \"a\"]"})).get(), 0)),
               Contains("a JSON array of ids"));
}

TEST_CASE("tokens that could have been written instead are arrays beside them") {
    const Model model = opened("en-causal");
    const Result result =
        result_of(submit(model, HS_COMPLETE, {"The weather"}, {{"alternatives", 3}, {"max_extra", 4}}));
    const hs_array tokens = array_of(result, "tokens");
    const hs_array ids = array_of(result, "alternatives");
    REQUIRE(ids.rank == 2);
    CHECK(ids.shape[0] == tokens.shape[0]);
    CHECK(ids.shape[1] == 3);
    CHECK(static_cast<const std::int32_t*>(ids.data)[0] == static_cast<const std::int32_t*>(tokens.data)[0]);
    CHECK(static_cast<const double*>(array_of(result, "alternative_log_probabilities").data)[0] ==
          static_cast<const double*>(array_of(result, "token_log_probabilities").data)[0]);
}

TEST_CASE("events are pulled while another thread waits") {
    const Model model = opened("en-de");
    for (int round = 0; round < 50; ++round) {
        const Asked asked = submit(model, HS_TOKENIZE, {"a"});
        const Asked lines = submit(model, HS_TRANSLATE, {"A.", "B.", "C."}, {{"beam", 1}, {"max_extra", 2}});
        std::thread pulling([&] {
            hs_event event{};
            event.size = sizeof(event);
            while (hs_request_next(lines.request.get(), -1, &event, nullptr) == HS_OK) {
            }
        });
        const std::size_t count = hs_result_count(result_of(lines).get());
        pulling.join();
        CHECK(count == 3);
    }
}

TEST_CASE("masks are filled, pairs and texts scored") {
    const Model masked = opened("en-masked");
    const Result filled = result_of(submit(masked, HS_FILL, {"The [MASK] sleeps."}, {{"top", 3}}));
    CHECK(answers(filled).at(0).at("masks").at(0).size() >= 3);
    CHECK_THAT(first_text(filled), !Contains("[MASK]"));
    const json best = answers(filled).at(0).at("masks").at(0).at(0);
    const Result piece = result_of(submit(masked, HS_DETOKENIZE, {json::array({best.at("id")}).dump()}));
    CHECK(first_text(piece) == best.at("word"));
    const Result none = result_of(submit(masked, HS_FILL, {"Nothing to fill."}));
    CHECK_THAT(text_of(hs_result_problem(none.get(), 0)), Contains("[MASK]"));
    CHECK(hs_result_status(none.get(), 0) == HS_INVALID);

    const Model model = opened("en-de");
    const Texts targets{"Die Katze schläft.", "Der Hund bellt."};
    const Result scored = result_of(submit(model, HS_SCORE, {"The cat sleeps.", "The cat sleeps."}, {}, &targets));
    CHECK(hs_result_number(scored.get(), 0, 0, HS_LOG_PROBABILITY) >
          hs_result_number(scored.get(), 1, 0, HS_LOG_PROBABILITY));
    CHECK_THAT(submit(model, HS_SCORE, {"The cat sleeps."}).message, Contains("needs targets"));
    const Model causal = opened("en-causal");
    CHECK(answers(result_of(submit(causal, HS_SCORE, {"The cat sleeps."}))).at(0).at("tokens").size() > 3);
    CHECK_THAT(submit(causal, HS_SCORE, {"a"}, {}, &targets).message, Contains("leave the targets out"));
}

TEST_CASE("kinds are refused where they do not suit") {
    const Model model = opened("en-de");
    const Texts targets{"a"};
    CHECK(submit(model, HS_COMPLETE, {"a"}).status == HS_UNSUPPORTED);
    CHECK_THAT(submit(opened("en-causal"), HS_COMPLETE, {"a"}, {{"max_extra", 0}}).message,
               Contains("at least one token"));
    CHECK(submit(model, HS_FILL, {"a"}).status == HS_UNSUPPORTED);
    CHECK(submit(model, 99, {"a"}).status == HS_INVALID);
    CHECK(submit(model, HS_TRANSLATE, {"a"}, {}, &targets).status == HS_INVALID);
    CHECK(hs_submit(nullptr, HS_TRANSLATE, nullptr, nullptr, 0, nullptr, nullptr, nullptr) == HS_INVALID);
    Request request;
    for (const std::size_t count : {std::size_t{2}, std::numeric_limits<std::size_t>::max()}) {
        CHECK(hs_submit(model.get(), HS_TRANSLATE, nullptr, nullptr, count, nullptr, &request, nullptr) == HS_INVALID);
    }
    const Result nothing = result_of(submit(model, HS_TRANSLATE, {}));
    CHECK(hs_result_count(nothing.get()) == 0);
    CHECK(answers(nothing).empty());
}
