// Heads that are changed, in each kind of request that obeys them, and masks as targets.
#include <cmath>

#include "tests/capi/handles.h"

using namespace headscope_tests;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json edits(const char* kind, const char* edit, int layers, int heads) {
    json list = json::array();
    for (int layer = 1; layer <= layers; ++layer) {
        for (int head = 1; head <= heads; ++head) {
            list.push_back({{"kind", kind}, {"layer", layer}, {"head", head}, {"edit", edit}});
        }
    }
    return {{"edits", list}};
}

// [layers, heads] of the only kind of attention that a language model has.
std::pair<int, int> heads_of(const Model& model) {
    Buffer info;
    REQUIRE(hs_model_info(model.get(), &info, nullptr) == HS_OK);
    const json keys = json_of(info).at("keys");
    const int layers = keys.value("encoder_layers", 0) + keys.value("decoder_layers", 0);
    return {layers, keys.at("attention.heads").get<int>()};
}

double log_probability(const Result& result, std::size_t input = 0) {
    return hs_result_number(result.get(), input, 0, HS_LOG_PROBABILITY);
}

double sum(const hs_array& array) {
    const auto* const values = static_cast<const double*>(array.data);
    double total = 0.0;
    for (std::int64_t i = 0; i < array.shape[0] * array.shape[1]; ++i) {
        total += values[i];
    }
    return total;
}

}  // namespace

TEST_CASE("completions obey edits, each as if it were alone, with all options of completing") {
    const Model model = opened("en-causal");
    const auto [layers, heads] = heads_of(model);
    json options = edits("decoder", "off", layers, heads);
    options.update({{"max_extra", 8}, {"n_best", 2}, {"beam", 2}, {"alternatives", 3}});
    const Texts prompts{"Could you please", "The weather is"};
    const Result without = result_of(submit(model, HS_COMPLETE, prompts, options));
    options.erase("edits");
    const Result with = result_of(submit(model, HS_COMPLETE, prompts, options));
    CHECK(first_text(without) != first_text(with));
    CHECK(hs_result_choices(without.get(), 1) == 2);
    CHECK(array_of(without, "alternatives").shape[1] == 3);
    // The explorer's search is another one, with the same heads.
    json explored = edits("decoder", "off", layers, heads);
    explored.update({{"max_extra", 8}, {"beam", 2}});
    CHECK(first_text(result_of(submit(model, HS_ATTEND, {prompts.front()}, explored))) == first_text(without));
    json none = edits("decoder", "off", layers, heads);
    none["edits"] = json::array();
    none.update({{"max_extra", 8}, {"beam", 2}});
    CHECK(first_text(result_of(submit(model, HS_COMPLETE, {prompts.front()}, none))) == first_text(with));
}

TEST_CASE("a stream of a completion obeys edits") {
    const Model model = opened("en-causal");
    const auto [layers, heads] = heads_of(model);
    json options = edits("decoder", "off", layers, heads);
    options.update({{"max_extra", 8}, {"stream", true}});
    const Asked asked = submit(model, HS_COMPLETE, {"Could you please"}, options);
    std::string written;
    hs_event event{};
    event.size = sizeof(event);
    while (hs_request_next(asked.request.get(), -1, &event, nullptr) == HS_OK) {
        if (event.kind == HS_TEXT_WRITTEN) {
            written = written.substr(0, event.kept_bytes) + text_of(event.text);
        }
    }
    options.erase("stream");
    CHECK(written == first_text(result_of(submit(model, HS_COMPLETE, {"Could you please"}, options))));
}

TEST_CASE("fills and scores obey edits") {
    const Model masked = opened("en-masked");
    const auto [layers, heads] = heads_of(masked);
    const json off = edits("encoder", "off", layers, heads);
    const auto best = [&](const json& options) {
        return answers(result_of(submit(masked, HS_FILL, {"She opened the [MASK]."}, options)))
            .at(0)
            .at("masks")
            .at(0)
            .at(0)
            .at("log_probability")
            .get<double>();
    };
    CHECK(best(off) != Approx(best({})).margin(1e-3));
    // The same masks, filled by a pass that records.
    const Result attended = result_of(submit(masked, HS_ATTEND, {"She opened the [MASK]."}, off));
    CHECK(log_probability(attended) == Approx(best(off)).margin(1e-5));

    const Model model = opened("en-de");
    const json cross = edits("cross", "uniform", 3, 8);
    const Texts sources{"The cat sleeps.", "She gave him the book.", "bad \xff byte"};
    const Texts targets{"Die Katze schläft.", "Sie gab ihm das Buch.", "a"};
    const Result scored = result_of(submit(model, HS_SCORE, sources, cross, &targets));
    CHECK_THAT(text_of(hs_result_problem(scored.get(), 2)), Contains("UTF-8"));
    for (std::size_t i = 0; i < 2; ++i) {
        const Texts target{targets[i]};
        const Result read = result_of(submit(model, HS_RUN, {sources[i]}, cross, &target));
        CHECK(log_probability(scored, i) == Approx(log_probability(read)).margin(1e-4));
    }
    // A pin to a token that only the longer sentence has.
    const json far{{"edits", {{{"kind", "encoder"}, {"layer", 1}, {"head", 1}, {"edit", "pin"}, {"key", 6}}}}};
    const Result pinned = result_of(submit(model, HS_SCORE, sources, far, &targets));
    const Result plain = result_of(submit(model, HS_SCORE, sources, {}, &targets));
    CHECK(log_probability(pinned, 0) == Approx(log_probability(plain, 0)).margin(1e-5));
    CHECK(log_probability(pinned, 1) != Approx(log_probability(plain, 1)).margin(1e-5));

    // Without its causal mask a decoder sees the target, but no pads, of which a longer pair beside has none.
    const json open = edits("decoder", "unmasked", 3, 8);
    const Result leaked = result_of(submit(model, HS_SCORE, sources, open, &targets));
    for (std::size_t i = 0; i < 2; ++i) {
        const Texts target{targets[i]};
        const Result read = result_of(submit(model, HS_RUN, {sources[i]}, open, &target));
        CHECK(log_probability(leaked, i) == Approx(log_probability(read)).margin(1e-4));
        CHECK(log_probability(leaked, i) != Approx(log_probability(plain, i)).margin(1e-2));
    }

    const Result pseudo = result_of(submit(masked, HS_SCORE, {"The cat sleeps."}, off));
    CHECK(log_probability(pseudo) !=
          Approx(log_probability(result_of(submit(masked, HS_SCORE, {"The cat sleeps."})))).margin(1e-3));
}

TEST_CASE("saliency with edits adds up to what the embeddings give") {
    const Model model = opened("en-de");
    const Texts target{"Ein Haus."};
    const auto read = [&](const json& options, bool zero) {
        const Options chosen(options);
        if (zero) {
            for (const char* stack : {"encoder", "decoder"}) {
                const std::string site = std::string(stack) + ".embedding.tokens";
                const hs_hook_function clear = [](void*, const char*, float* values,
                                                  const hs_array* shape) -> hs_status {
                    std::fill(values, values + shape->shape[0] * shape->shape[1], 0.0F);
                    return HS_OK;
                };
                REQUIRE(hs_options_hook(chosen.get(), site.c_str(), clear, nullptr, nullptr) == HS_OK);
            }
        }
        const hs_text input = text("A house.");
        const hs_text output = text(target.front());
        Asked asked;
        asked.status = hs_submit(model.get(), HS_RUN, &input, &output, 1, chosen.get(), &asked.request, nullptr);
        return log_probability(result_of(asked));
    };
    for (const char* edit : {"off", "uniform"}) {
        json options = edits("encoder", edit, 3, 4);
        for (const json& each : edits("cross", edit, 2, 8).at("edits")) {
            options["edits"].push_back(each);
        }
        const double gained = read(options, false) - read(options, true);
        options["steps"] = 128;
        const Result saliency = result_of(submit(model, HS_SALIENCY, {"A house."}, options, &target));
        INFO(edit);
        CHECK(sum(array_of(saliency, "source")) + sum(array_of(saliency, "target")) ==
              Approx(gained).margin(0.04 * std::abs(gained)));
    }
}

TEST_CASE("importance and saliency of masks are of the likeliest words, or of those that are given") {
    const Model model = opened("en-masked");
    const auto [layers, heads] = heads_of(model);
    const Texts text{"She opened the [MASK]."};
    const Result own = result_of(submit(model, HS_IMPORTANCE, text));
    CHECK(array_of(own, "importance").shape[0] == layers * heads);
    const Texts likeliest{first_text(result_of(submit(model, HS_FILL, text)))};
    CHECK(likeliest.front() == "She opened the door.");
    const Texts door{"door"};
    CHECK(log_probability(result_of(submit(model, HS_IMPORTANCE, text, {}, &door))) == log_probability(own));
    const Texts other{"window"};
    const Result given = result_of(submit(model, HS_IMPORTANCE, text, {}, &other));
    CHECK(log_probability(given) < log_probability(own));

    // One head off is what its row says.
    const auto* const row = static_cast<const double*>(array_of(given, "importance").data);
    const json off{{"edits", {{{"kind", "encoder"}, {"layer", 1}, {"head", 1}}}}};
    const double without = log_probability(result_of(submit(model, HS_RUN, text, off, &other)));
    CHECK(log_probability(given) - without == Approx(row[3]).margin(1e-4));

    const Result saliency = result_of(submit(model, HS_SALIENCY, {"The [MASK] opened the [MASK]."}));
    const hs_array target = array_of(saliency, "target");
    CHECK(target.shape[0] == 2);
    CHECK(answers(saliency).at(0).at("target").size() == static_cast<std::size_t>(target.shape[1]));
    CHECK(std::abs(sum(target)) > 0.0);

    const Result none = result_of(submit(model, HS_SALIENCY, {"She opened the door."}));
    CHECK_THAT(text_of(hs_result_problem(none.get(), 0)), Contains("no token whose probability could change"));
    const Texts two{"door door"};
    CHECK_THAT(text_of(hs_result_problem(result_of(submit(model, HS_SALIENCY, text, {}, &two)).get(), 0)),
               Contains("1 masks, but 2 tokens"));
    const Texts unknown{"floccinaucinihilipilification"};
    CHECK_THAT(submit(model, HS_SALIENCY, text, {}, &unknown).message, Contains("a mask stands for one"));
}

TEST_CASE("edits of heads that a model does not have are refused") {
    const Model model = opened("en-causal");
    CHECK_THAT(submit(model, HS_COMPLETE, {"a"}, edits("decoder", "off", 99, 1)).message,
               Contains("option: \"edits\""));
    CHECK(submit(model, HS_SCORE, {"a"}, edits("cross", "off", 1, 1)).status == HS_INVALID);
    CHECK(submit(opened("en-masked"), HS_FILL, {"[MASK]"}, edits("encoder", "off", 1, 99)).status == HS_INVALID);
    CHECK_THAT(submit(opened("en-de"), HS_TRANSLATE, {"a"}, edits("encoder", "off", 1, 1)).message,
               Contains("means nothing to HS_TRANSLATE"));
}
