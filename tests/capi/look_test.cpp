// Attention, values in the middle of a pass, importance and saliency.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/capi/handles.h"

using namespace headscope_tests;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

constexpr const char* kText = "The cat sleeps because it is tired.";
const Texts kTarget{"Die Katze schläft, weil sie müde ist."};

Record record_of(const Result& result) {
    Record record;
    REQUIRE(hs_result_record(result.get(), 0, &record, nullptr) == HS_OK);
    return record;
}

hs_array weights_of(const Record& record, int kind, int layer) {
    hs_array array{};
    array.size = sizeof(array);
    REQUIRE(hs_record_weights(record.get(), kind, layer, &array, nullptr) == HS_OK);
    return array;
}

std::string figure(const Record& record, const json& options, const char* format, hs_status wanted = HS_OK) {
    Buffer bytes;
    Problem problem;
    CHECK(hs_record_figure(record.get(), Options(options).get(), format, &bytes, &problem) == wanted);
    return wanted == HS_OK ? text_of(hs_buffer_bytes(bytes.get())) : message_of(problem);
}

}  // namespace

TEST_CASE("a record has the weights of every head, whose rows add up to 1") {
    const Model model = opened("en-de");
    const Result result = result_of(submit(model, HS_ATTEND, {kText}));
    CHECK_THAT(first_text(result), Contains("Katze"));
    const Record record = record_of(result);
    const hs_array cross = weights_of(record, HS_CROSS, 1);
    CHECK(cross.rank == 3);
    CHECK(cross.shape[1] == static_cast<std::int64_t>(hs_record_tokens(record.get(), HS_TARGET_OUT)));
    CHECK(cross.shape[2] == static_cast<std::int64_t>(hs_record_tokens(record.get(), HS_SOURCE)));
    const auto* const values = static_cast<const float*>(cross.data);
    double sum = 0.0;
    for (std::int64_t key = 0; key < cross.shape[2]; ++key) {
        sum += values[key];
    }
    CHECK(sum == Approx(1.0).margin(1e-5));
    CHECK(text_of(hs_record_token(record.get(), HS_SOURCE, 1)) == "\u2581cat");
    Problem problem;
    hs_array missing{};
    missing.size = sizeof(missing);
    CHECK(hs_record_weights(record.get(), HS_CROSS, 99, &missing, &problem) != HS_OK);
    CHECK_FALSE(message_of(problem).empty());
    missing.size = 3;
    CHECK(hs_record_weights(record.get(), HS_CROSS, 1, &missing, nullptr) == HS_INVALID);
}

TEST_CASE("records are drawn, written and derived from") {
    const Model model = opened("en-de");
    const Record record = record_of(result_of(submit(model, HS_ATTEND, {kText}, {}, &kTarget)));
    CHECK_THAT(figure(record, {{"kind", "encoder"}, {"words", {"it"}}}, "svg"), Contains("<svg"));
    CHECK_THAT(figure(record, {{"matrix", true}, {"heads", {1}}, {"layer", 2}}, "png"), Contains("PNG"));
    CHECK_THAT(figure(record, {{"all_heads", true}, {"sort", "distance"}}, "html"), Contains("<!DOCTYPE html>"));
    CHECK_THAT(figure(record, {{"words", {"dog"}}}, "svg", HS_INVALID), Contains("dog"));
    CHECK_THAT(figure(record, {{"matrix", true}}, "svg", HS_INVALID), Contains("a matrix shows one head"));
    CHECK_THAT(figure(record, {{"looked_at", true}}, "svg", HS_INVALID), Contains("chosen words or positions"));
    CHECK_THAT(figure(record, {{"scale", 2.0}}, "svg", HS_INVALID), Contains("\"scale\" is for png"));
    CHECK_THAT(figure(record, {{"title", "a"}}, "json", HS_INVALID), Contains("\"title\" is for a picture"));
    CHECK_THAT(figure(record, {{"sort", "distance"}}, "svg", HS_INVALID), Contains("\"sort\" is for all heads"));
    CHECK_THAT(figure(record, json::object(), "gif", HS_INVALID), Contains("\"gif\" is no format"));

    CHECK_THAT(figure(record, {{"page", true}}, "html"), Contains("<!DOCTYPE html>"));
    CHECK_THAT(figure(record, {{"page", true}}, "svg", HS_INVALID), Contains("needs the format html"));
    CHECK_THAT(figure(record, {{"page", true}, {"layer", 2}}, "html", HS_INVALID), Contains("\"layer\" means nothing"));

    Record rollout;
    REQUIRE(hs_record_derive(record.get(), "rollout", nullptr, &rollout, nullptr) == HS_OK);
    CHECK(weights_of(rollout, HS_ENCODER, 6).shape[0] == 1);
    Record zero;
    REQUIRE(hs_record_derive(record.get(), "difference", record.get(), &zero, nullptr) == HS_OK);
    CHECK(static_cast<const float*>(weights_of(zero, HS_CROSS, 1).data)[0] == 0.0F);
    CHECK(hs_record_derive(record.get(), "difference", nullptr, &rollout, nullptr) == HS_INVALID);
    CHECK(hs_record_derive(record.get(), "sum", nullptr, &rollout, nullptr) == HS_NOT_FOUND);
    Buffer list;
    REQUIRE(hs_record_statistics(record.get(), &list, nullptr) == HS_OK);
    CHECK(json_of(list).size() == (6 + 3 + 3) * 8);
    Buffer whole;
    REQUIRE(hs_record_json(record.get(), &whole, nullptr) == HS_OK);
    CHECK(json_of(whole).at("format") == "headscope attention record");
}

TEST_CASE("a page has queries and keys that were asked for") {
    const Model model = opened("en-causal");
    const Record without = record_of(result_of(submit(model, HS_ATTEND, {kText}, {{"max_extra", 3}})));
    const Record with = record_of(result_of(submit(model, HS_ATTEND, {kText}, {{"max_extra", 3}, {"neurons", true}})));
    const auto size = [](const Record& record) { return figure(record, {{"page", true}}, "html").size(); };
    CHECK(size(with) > size(without) + 10'000);
}

TEST_CASE("a head that is switched off has no weights") {
    const Model model = opened("en-de");
    const json off{{"edits", {{{"kind", "encoder"}, {"layer", 2}, {"head", 3}}}}};
    const Record record = record_of(result_of(submit(model, HS_ATTEND, {kText}, off)));
    const hs_array layer = weights_of(record, HS_ENCODER, 2);
    const auto* const head = static_cast<const float*>(layer.data) + 2 * layer.shape[1] * layer.shape[2];
    CHECK(std::all_of(head, head + layer.shape[1] * layer.shape[2], [](float each) { return each == 0.0F; }));
}

TEST_CASE("values in the middle of a pass are recorded, patched and changed by hooks") {
    const Model model = opened("en-de");
    const char* const site = "encoder.2.residual_out";
    const Result plain = result_of(submit(model, HS_RUN, {kText}, {{"record", {site}}}, &kTarget));
    const hs_array states = array_of(plain, site);
    CHECK(states.rank == 2);
    const double log_probability = hs_result_number(plain.get(), 0, 0, HS_LOG_PROBABILITY);

    const auto run = [&](hs_options* options) {
        const hs_text input = text(kText);
        const hs_text target = text(kTarget.front());
        Asked asked;
        asked.status = hs_submit(model.get(), HS_RUN, &input, &target, 1, options, &asked.request, nullptr);
        return result_of(asked);
    };
    {
        const Options same(json::object());
        REQUIRE(hs_options_patch(same.get(), site, &states, 0, 0, nullptr) == HS_OK);
        CHECK(hs_result_number(run(same.get()).get(), 0, 0, HS_LOG_PROBABILITY) == Approx(log_probability));
    }
    {
        const Options halved(json::object());
        const hs_hook_function halve = [](void* user, const char*, float* values, const hs_array* shape) -> hs_status {
            ++*static_cast<int*>(user);
            std::transform(values, values + shape->shape[0] * shape->shape[1], values, [](float x) { return x / 2; });
            return HS_OK;
        };
        int calls = 0;
        REQUIRE(hs_options_hook(halved.get(), site, halve, &calls, nullptr) == HS_OK);
        CHECK(hs_result_number(run(halved.get()).get(), 0, 0, HS_LOG_PROBABILITY) != Approx(log_probability));
        CHECK(calls == 1);
    }
    {
        const Options failing(json::object());
        const hs_hook_function fail = [](void*, const char*, float*, const hs_array*) -> hs_status { return 77; };
        REQUIRE(hs_options_hook(failing.get(), site, fail, nullptr, nullptr) == HS_OK);
        const Result failed = run(failing.get());
        CHECK(hs_result_status(failed.get(), 0) == HS_FAILED);
        CHECK_THAT(text_of(hs_result_problem(failed.get(), 0)),
                   Contains("the hook of encoder.2.residual_out returned status 77"));
    }
    const Options wrong(json::object());
    hs_array shape = states;
    shape.type = HS_FLOAT64;
    CHECK(hs_options_patch(wrong.get(), site, &shape, 0, 0, nullptr) == HS_INVALID);
    shape = states;
    shape.shape[0] = -1;
    CHECK(hs_options_patch(wrong.get(), site, &shape, 0, 0, nullptr) == HS_INVALID);
    shape = states;
    shape.size = 8;
    CHECK(hs_options_patch(wrong.get(), site, &shape, 0, 0, nullptr) == HS_INVALID);
    {
        const Options far(json::object());
        REQUIRE(hs_options_patch(far.get(), site, &states, 0, std::numeric_limits<std::int64_t>::max(), nullptr) ==
                HS_OK);
        CHECK_THAT(text_of(hs_result_problem(run(far.get()).get(), 0)), Contains("no more positions"));
    }
    shape = states;
    shape.shape[1] = 7;
    REQUIRE(hs_options_patch(wrong.get(), site, &shape, 0, 0, nullptr) == HS_OK);
    const Result refused = run(wrong.get());
    CHECK_THAT(text_of(hs_result_problem(refused.get(), 0)), Contains("expected the same columns"));
    CHECK(hs_result_status(refused.get(), 0) == HS_INVALID);
    const Asked missing = submit(model, HS_RUN, {kText}, {{"record", {"no.site"}}}, &kTarget);
    CHECK(missing.status == HS_NOT_FOUND);
    CHECK_THAT(missing.message, Contains("no.site"));
}

TEST_CASE("importance and saliency need a target and say what it depends on") {
    const Model model = opened("en-de");
    const Result importance = result_of(submit(model, HS_IMPORTANCE, {"The cat sleeps."}, {}, &kTarget));
    CHECK(array_of(importance, "importance").shape[0] == (6 + 3 + 3) * 8);
    const Result saliency = result_of(submit(model, HS_SALIENCY, {kText}, {}, &kTarget));
    const hs_array source = array_of(saliency, "source");
    CHECK(source.type == HS_FLOAT64);
    CHECK(source.shape[0] == array_of(saliency, "tokens").shape[0]);
    CHECK(answers(saliency).at(0).at("source").size() == static_cast<std::size_t>(source.shape[1]));
    const Result none = result_of(submit(model, HS_SALIENCY, {kText}));
    CHECK_THAT(text_of(hs_result_problem(none.get(), 0)), Contains("a translation is required"));
    const Model causal = opened("en-causal");
    CHECK(array_of(result_of(submit(causal, HS_SALIENCY, {kText})), "target").rank == 2);
}
