#include "capi/ask_about.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "capi/choices.h"
#include "capi/kinds.h"
#include "capi/records.h"
#include "explore/explorer.h"
#include "explore/inner_json.h"
#include "figures/heads_page.h"
#include "model/family.h"
#include "model/sites.h"

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

// The pieces that stand at the masks of a text, from their words between blanks.
std::vector<std::int32_t> fills_of(const ModelDirectory& model, const std::string& words) {
    const Tokenizer& tokenizer = *model.target_tokenizer;
    std::vector<std::int32_t> fills;
    std::istringstream list(words);
    for (std::string word; list >> word;) {
        const std::vector<std::int32_t> ids = tokenizer.encode(word);
        const std::optional<std::int32_t> piece = tokenizer.vocabulary().find(word);
        if (ids.size() != 1 && !piece) {
            throw Failure(HS_INVALID,
                          fmt::format("\"{}\" is {} pieces of the model, but a mask stands for one: the target has a "
                                      "word or a piece for each mask, between blanks",
                                      word, ids.size()));
        }
        fills.push_back(ids.size() == 1 ? ids.front() : *piece);
    }
    return fills;
}

// `needs_target`: a language model that has none reads its text alone.
ExploreRequest request_of(const Submission& submission, std::size_t input, bool needs_target) {
    const ChosenOptions& options = submission.options;
    const FamilyTraits& family = traits(submission.model->directory().config.architecture);
    ExploreRequest request{.source = submission.inputs[input]};
    request.chat = options.on("chat");
    if (submission.targets && family.fills_masks) {
        request.target_tokens = fills_of(submission.model->directory(), (*submission.targets)[input]);
    } else if (submission.targets) {
        request.target = (*submission.targets)[input];
    } else if (needs_target && family.continues_text) {
        request.target = "";
    }
    request.search = options.decoding(submission.model->directory());
    request.edits = edits_of(submission);
    request.source_pads = options.integer("pads");
    request.candidates = static_cast<int>(options.integer("candidates"));
    if (options.has("layer") || options.has("kind")) {
        if (!options.has("layer") || !options.has("kind")) {
            throw Failure(HS_INVALID,
                          "the options \"kind\" and \"layer\" together choose the layer that is recorded: give both");
        }
        request.layer = {parse_attention_kind(options.text("kind")), static_cast<int>(options.integer("layer")) - 1};
    }
    return request;
}

template <class Request, class Make, class Convert>
AllAsked ask_each(const Submission& submission, const Make& make, const Convert& convert) {
    require_room(submission);
    AllAsked asked;
    for (std::size_t i = 0; i < submission.inputs.size(); ++i) {
        const std::string& input = submission.inputs[i];
        asked.push_back(std::make_unique<AskedTicket<Request>>(
            submission.engine.submit(submission.model, make(i), submission.terms), i, std::vector{input},
            [input, convert](typename Request::Result found, std::vector<InputResult>& results) {
                results.push_back(found.problem.empty() ? convert(input, found)
                                                        : problem_of(input, found.problem, HS_INVALID));
            },
            !submission.options.hooks().empty()));
    }
    return asked;
}

Json steps_json(const ModelDirectory& model, const std::vector<ExploredStep>& steps) {
    Json list = Json::array();
    for (const ExploredStep& step : steps) {
        Json candidates = Json::array();
        for (const NextCandidate& candidate : step.candidates) {
            candidates.push_back({{"id", candidate.token},
                                  {"piece", model.target_tokenizer->piece(candidate.token)},
                                  {"log_probability", candidate.log_probability}});
        }
        list.push_back({{"id", step.token},
                        {"log_probability", step.log_probability},
                        {"rank", step.rank},
                        {"position", step.position},
                        {"candidates", std::move(candidates)}});
    }
    return list;
}

void put_steps(Choice& choice, const std::vector<ExploredStep>& steps) {
    std::vector<std::int32_t> tokens;
    std::vector<double> log_probabilities;
    for (const ExploredStep& step : steps) {
        tokens.push_back(step.token);
        log_probabilities.push_back(step.log_probability);
    }
    put(choice, "tokens", list_of(std::move(tokens)));
    put(choice, "token_log_probabilities", list_of(std::move(log_probabilities)));
}

std::vector<std::int64_t> sizes_of(const Shape& shape) {
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < shape.rank(); ++i) {
        sizes.push_back(shape[i]);
    }
    return sizes;
}

SiteFunction function_of(const SiteHook& hook) {
    return {.pattern = hook.pattern, .change = [hook](SiteValues& values) {
                hs_array shape{};
                shape.size = sizeof(hs_array);
                lend(values.values.data(), HS_FLOAT32, sizes_of(values.shape), shape);
                const hs_status status = hook.function(hook.user, values.site.c_str(), values.values.data(), &shape);
                if (status != HS_OK) {
                    throw Failure(HS_FAILED, fmt::format("the hook of {} returned status {}", values.site, status));
                }
            }};
}

// Failure for a pattern that names no site.
void require_sites(const Submission& submission) {
    const auto require = [&](const std::string& pattern) {
        try {
            static_cast<void>(matching_sites(submission.model->directory().config, pattern));
        } catch (const Error& error) {
            throw Failure(HS_NOT_FOUND, error.what());
        }
    };
    std::ranges::for_each(submission.options.texts("record"), require);
    for (const SitePatch& patch : submission.options.patches()) {
        require(patch.by.site);
    }
    for (const SiteHook& hook : submission.options.hooks()) {
        require(hook.pattern);
    }
}

NamedArray products_of(const EmbeddingGradients& gradients) {
    std::vector<double> products = gradients.products();
    const std::int64_t tokens = std::max<std::int64_t>(gradients.tokens, 1);
    return {.shape = {std::ssize(products) / tokens, gradients.tokens}, .values = std::move(products)};
}

// With the queries and keys of a page.
struct SeenInside {
    Exploration found;
    PageNeurons inside;
    std::string problem;
};

InputResult seen(const OpenModel& model, const std::string& input, Exploration& found, PageNeurons inside) {
    const Json json = {{"input", input},
                       {"output", found.translation},
                       {"log_probability", found.log_probability},
                       {"score", found.score},
                       {"prompt", found.prompt},
                       {"steps", steps_json(model.directory(), found.steps)},
                       {"edits_without_effect", found.without_effect.size()}};
    InputResult result{.json = dumped(json)};
    Choice choice{.text = found.translation, .score = found.score, .log_probability = found.log_probability};
    put_steps(choice, found.steps);
    result.choices.push_back(std::move(choice));
    result.record = std::make_shared<const SeenRecord>(SeenRecord{std::move(found.record), std::move(inside)});
    return result;
}

}  // namespace

AllAsked ask_for_attention(const Submission& submission) {
    if (!submission.options.on("neurons")) {
        return ask_each<LookRequest>(
            submission, [&](std::size_t i) { return LookRequest{request_of(submission, i, false)}; },
            [model = submission.model](const std::string& input, Exploration& found) {
                return seen(*model, input, found, {});
            });
    }
    using Run = RunRequest<SeenInside>;
    const auto make = [&](std::size_t i) {
        const ExploreRequest request = request_of(submission, i, false);
        const auto run = [request](const Place& place) {
            SeenInside inside;
            inside.found =
                Explorer(place.backend, place.model, place.compute).explore(request, [&](const auto& /*so_far*/) {
                    return place.goes_on();
                });
            inside.problem = inside.found.problem;
            if (inside.problem.empty()) {
                inside.inside = page_neurons(place, with_target(request, inside.found), inside.found.record,
                                             HeadsPageOptions{}.neuron_bytes);
            }
            return inside;
        };
        return Run{.run = run, .tokens = pieces_of(request.source)};
    };
    return ask_each<Run>(submission, make, [model = submission.model](const std::string& input, SeenInside& all) {
        return seen(*model, input, all.found, std::move(all.inside));
    });
}

AllAsked ask_to_run(const Submission& submission) {
    require_sites(submission);
    using Run = RunRequest<HookedRun>;
    const auto make = [&](std::size_t i) {
        HookedRequest request{.text = request_of(submission, i, true),
                              .record = submission.options.texts("record"),
                              .patches = submission.options.patches()};
        for (const SiteHook& hook : submission.options.hooks()) {
            request.functions.push_back(function_of(hook));
        }
        const std::int64_t tokens = pieces_of(request.text.source);
        return Run{.run =
                       [request = std::move(request)](const Place& place) {
                           return run_with_hooks(place.backend, place.model, place.compute, request);
                       },
                   .tokens = tokens};
    };
    return ask_each<Run>(submission, make, [model = submission.model](const std::string& input, HookedRun& found) {
        InputResult result{.json = dumped({{"input", input},
                                           {"log_probability", found.log_probability},
                                           {"prompt", found.prompt},
                                           {"steps", steps_json(model->directory(), found.steps)}})};
        Choice choice{.log_probability = found.log_probability};
        put_steps(choice, found.steps);
        for (SiteValues& site : found.values) {
            put(choice, site.site, {.shape = sizes_of(site.shape), .values = std::move(site.values)});
        }
        result.choices.push_back(std::move(choice));
        return result;
    });
}

AllAsked ask_for_importance(const Submission& submission) {
    return ask_each<ImportanceRequest>(
        submission, [&](std::size_t i) { return ImportanceRequest{request_of(submission, i, true)}; },
        [](const std::string& input, const Importance& found) {
            Json heads = Json::array();
            std::vector<double> rows;
            for (const HeadImportance& each : found.heads) {
                heads.push_back({{"kind", name_of(each.site.kind)},
                                 {"layer", each.site.layer + 1},
                                 {"head", each.head},
                                 {"log_probability", each.log_probability},
                                 {"loss", each.loss}});
                rows.insert(rows.end(), {static_cast<double>(each.site.kind), each.site.layer + 1.0,
                                         static_cast<double>(each.head), each.loss});
            }
            InputResult result{
                .json = dumped(
                    {{"input", input}, {"log_probability", found.log_probability}, {"heads", std::move(heads)}})};
            Choice choice{.log_probability = found.log_probability};
            put(choice, "importance", {.shape = {std::ssize(found.heads), 4}, .values = std::move(rows)});
            result.choices.push_back(std::move(choice));
            return result;
        });
}

AllAsked ask_for_saliency(const Submission& submission) {
    const auto steps = static_cast<int>(submission.options.integer("steps"));
    return ask_each<SaliencyRequest>(
        submission,
        [&](std::size_t i) {
            return SaliencyRequest{request_of(submission, i, true), steps};
        },
        [](const std::string& input, const Saliency& found) {
            Json json{{"input", input}};
            json.update(Json::parse(to_json(found)));
            InputResult result{.json = dumped(json)};
            Choice choice;
            put(choice, "tokens", list_of(found.predicted));
            if (!found.source.empty()) {
                put(choice, "source", products_of(found.of_source));
            }
            put(choice, "target", products_of(found.of_target));
            result.choices.push_back(std::move(choice));
            return result;
        });
}

}  // namespace headscope
