#include "capi/ask_for_text.h"

#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/line_alignments.h"
#include "answers/text_json.h"
#include "answers/word_json.h"
#include "capi/ask_for_tokens.h"
#include "capi/choices.h"
#include "capi/kinds.h"
#include "explore/editing_observer.h"
#include "infer/filler.h"
#include "infer/framed_line.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "observe/selection.h"

namespace headscope {

namespace {

// [tokens, k] of the likeliest tokens instead of each; ids of -1 where there are fewer.
void put_alternatives(Choice& choice, const std::vector<Alternatives>& alternatives) {
    std::size_t most = 0;
    for (const Alternatives& each : alternatives) {
        most = std::max(most, each == nullptr ? 0 : each->size());
    }
    std::vector<std::int32_t> tokens;
    std::vector<double> log_probabilities;
    for (const Alternatives& each : alternatives) {
        for (std::size_t i = 0; i < most; ++i) {
            const bool has = each != nullptr && i < each->size();
            tokens.push_back(has ? (*each)[i].token : -1);
            log_probabilities.push_back(has ? (*each)[i].log_probability : -std::numeric_limits<double>::infinity());
        }
    }
    const std::vector<std::int64_t> shape{std::ssize(alternatives), static_cast<std::int64_t>(most)};
    put(choice, "alternatives", {.shape = shape, .values = std::move(tokens)});
    put(choice, "alternative_log_probabilities", {.shape = shape, .values = std::move(log_probabilities)});
}

Choice choice_of(Translation written) {
    Choice choice{.text = std::move(written.text), .score = written.score, .log_probability = written.log_probability};
    put(choice, "tokens", list_of(std::move(written.ids)));
    if (!written.alternatives.empty()) {
        put_alternatives(choice, written.alternatives);
    }
    if (!written.token_log_probabilities.empty()) {
        put(choice, "token_log_probabilities", list_of(std::move(written.token_log_probabilities)));
    }
    return choice;
}

// An input that a working model did not take.
hs_status status_of_problem(const std::string& problem) {
    return problem.empty() ? HS_OK : HS_INVALID;
}

InputResult result_of(TextResult written, const nlohmann::ordered_json& json) {
    InputResult result{.problem = written.problem, .status = status_of_problem(written.problem), .json = dumped(json)};
    if (result.problem.empty()) {
        for (Translation& each : written.n_best) {
            result.choices.push_back(choice_of(std::move(each)));
        }
    }
    return result;
}

std::vector<SourceLine> lines_of(const Submission& submission) {
    const auto number = static_cast<std::uint32_t>(submission.options.integer("number"));
    const bool ids = submission.options.on("ids");
    std::vector<SourceLine> lines;
    for (const std::string& input : submission.inputs) {
        SourceLine line{.text = ids ? "" : input,
                        .prefix = submission.options.text("prefix"),
                        .number = number + static_cast<std::uint32_t>(lines.size())};
        if (ids) {
            line.ids = ids_of(input);
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

using JsonOf = std::function<nlohmann::ordered_json(const SourceLine& line, const TextResult& result)>;

AllAsked ask_for_lines(const Submission& submission, const DecodingOptions& decoding, const JsonOf& json_of) {
    check_search_options(decoding.search);
    auto lines = std::make_shared<const std::vector<SourceLine>>(lines_of(submission));
    const auto add = [lines, json_of](std::size_t at, TextResult result, std::vector<InputResult>& results) {
        nlohmann::ordered_json json = json_of((*lines)[at], result);
        results.push_back(result_of(std::move(result), json));
    };
    const std::vector<AttentionEdit> edits = edits_of(submission);
    AllAsked asked;
    if (lines->size() > 1 && !submission.options.on("stream") && edits.empty()) {
        asked.push_back(std::make_unique<AskedLines>(
            submission.engine.submit(
                submission.model, LinesRequest{.lines = *lines, .options = decoding, .counts = true}, submission.terms),
            0, submission.inputs, add));
        return asked;
    }
    require_room(submission);
    for (std::size_t i = 0; i < lines->size(); ++i) {
        DecodingOptions own = decoding;
        // Only a model without a source takes edits. Its requests refer to them.
        const auto editing = edits.empty() ? nullptr : std::make_shared<EditingObserver>(edits, 0, nullptr);
        own.observer = editing.get();
        Ticket<TextRequest> ticket = submission.engine.submit(
            submission.model, TextRequest{(*lines)[i], own, submission.options.on("stream")}, submission.terms);
        asked.push_back(std::make_unique<AskedLine>(
            std::move(ticket), i, std::vector{submission.inputs[i]},
            [add, i, editing](TextResult result, std::vector<InputResult>& results) {
                add(i, std::move(result), results);
            },
            editing != nullptr));
    }
    return asked;
}

struct AlignedLines {
    std::vector<StreamedLine> lines;
    std::vector<std::vector<Alignment>> alignments;
};

// Translates, and then links words on the same device, in one request.
AllAsked ask_to_align(const Submission& submission, DecodingOptions decoding, bool n_best) {
    if (submission.options.on("stream")) {
        throw Failure(HS_INVALID, "option: \"alignment\" needs whole translations: leave \"stream\" out");
    }
    check_search_options(decoding.search);
    const ModelConfig& config = submission.model->directory().config;
    if (submission.options.has("alignment_layer")) {
        check_layer(AttentionKind::Cross, static_cast<int>(submission.options.integer("alignment_layer")),
                    layers_of(config, AttentionKind::Cross));
    }
    check_heads(submission.options.integers("alignment_heads"), heads_of(config, AttentionKind::Cross));
    const AlignmentOptions alignment{.layer = submission.options.has("alignment_layer")
                                                  ? static_cast<int>(submission.options.integer("alignment_layer"))
                                                  : 0,
                                     .heads = submission.options.integers("alignment_heads"),
                                     .pieces = submission.options.on("alignment_pieces"),
                                     .frame = any_frame(submission.model->directory(), decoding.search.languages)};
    const auto run = [lines = lines_of(submission), decoding, alignment](const Place& place) mutable {
        decoding.compute = place.compute;
        AlignedLines aligned;
        std::vector<TextResult> results = place.model.translate(lines, decoding, [&] { place.go_on(); });
        for (std::size_t i = 0; i < lines.size(); ++i) {
            aligned.lines.push_back({lines[i].number, lines[i].text, std::move(results[i])});
        }
        Context ctx{.backend = place.backend, .compute = place.compute};
        aligned.alignments = align_lines(ctx, place.model, aligned.lines, alignment, decoding.batch_tokens);
        return aligned;
    };
    using Run = RunRequest<AlignedLines>;
    std::int64_t tokens = 0;
    for (const std::string& input : submission.inputs) {
        tokens += pieces_of(input);
    }
    AllAsked asked;
    asked.push_back(std::make_unique<AskedTicket<Run>>(
        submission.engine.submit(submission.model, Run{.run = run, .tokens = tokens}, submission.terms), 0,
        submission.inputs, [model = submission.model, n_best](AlignedLines aligned, std::vector<InputResult>& results) {
            for (std::size_t i = 0; i < aligned.lines.size(); ++i) {
                StreamedLine& line = aligned.lines[i];
                nlohmann::ordered_json json =
                    translation_json(*model->directory().target_tokenizer, line, n_best, aligned.alignments[i]);
                InputResult& result = results.emplace_back(result_of(std::move(line.sentence), json));
                for (std::size_t choice = 0; choice < result.choices.size(); ++choice) {
                    std::vector<std::int64_t> links;
                    for (const auto& [source, target] : aligned.alignments[i][choice]) {
                        links.insert(links.end(), {source, target});
                    }
                    put(result.choices[choice], "alignment",
                        {.shape = {std::ssize(links) / 2, 2}, .values = std::move(links)});
                }
            }
        }));
    return asked;
}

}  // namespace

AllAsked ask_to_translate(const Submission& submission) {
    const ModelDirectory& directory = submission.model->directory();
    const DecodingChoices choices = submission.options.decoding(directory);
    check_choices(choices, directory.config, "option");
    DecodingOptions decoding = choices.applied_to(submission.model->choices().applied_to({}));
    decoding.warn_unsplit = choices.split_longer_than.has_value();  // not if the model chose it
    const bool n_best = choices.n_best.has_value();
    if (submission.options.on("alignment")) {
        return ask_to_align(submission, decoding, n_best);
    }
    for (const char* key : {"alignment_layer", "alignment_heads", "alignment_pieces"}) {
        if (submission.options.has(key)) {
            throw Failure(HS_INVALID, fmt::format("option: \"{}\" needs \"alignment\"", key));
        }
    }
    return ask_for_lines(
        submission, decoding, [model = submission.model, n_best](const SourceLine& line, const TextResult& result) {
            return translation_json(*model->directory().target_tokenizer, {line.number, line.text, result}, n_best, {});
        });
}

AllAsked ask_to_complete(const Submission& submission) {
    DecodingChoices choices = submission.options.decoding(submission.model->directory());
    check_choices(choices, submission.model->directory().config, "option");
    if (choices.max_extra == 0) {
        throw Failure(HS_INVALID, "option: \"max_extra\" must be 1 or more: a completion has at least one token");
    }
    const DecodingOptions decoding =
        completion_options(choices, submission.model->choices().applied_to(
                                        default_decoding_options(submission.model->directory().config.architecture)));
    return ask_for_lines(submission, decoding,
                         [model = submission.model, n_best = choices.n_best.value_or(1) > 1](const SourceLine& line,
                                                                                             const TextResult& result) {
                             return completion_json(*model->directory().target_tokenizer, line.number, line.text,
                                                    result, n_best);
                         });
}

AllAsked ask_to_fill(const Submission& submission) {
    constexpr int kUsual = 5;
    const int top = submission.options.has("top") ? static_cast<int>(submission.options.integer("top")) : kUsual;
    if (top > Filler::kMostCandidates) {
        throw Failure(HS_INVALID, fmt::format("option: \"top\" must be at most {} to fill in, got {}",
                                              Filler::kMostCandidates, top));
    }
    require_room(submission);
    AllAsked asked;
    for (std::size_t i = 0; i < submission.inputs.size(); ++i) {
        const std::string& input = submission.inputs[i];
        asked.push_back(std::make_unique<AskedTicket<FillRequest>>(
            submission.engine.submit(submission.model,
                                     FillRequest{input, submission.options.text("mask"), top,
                                                 submission.options.on("one_by_one"), edits_of(submission)},
                                     submission.terms),
            i, std::vector{input},
            [model = submission.model, input](FillAnswer filled, std::vector<InputResult>& results) {
                const Tokenizer& tokenizer = *model->directory().target_tokenizer;
                InputResult result{.json = dumped(fill_json(tokenizer, input, filled))};
                Choice choice{.text = std::move(filled.text)};
                if (!filled.ids.empty()) {
                    put(choice, "tokens", list_of(std::move(filled.ids)));
                }
                result.choices.push_back(std::move(choice));
                results.push_back(std::move(result));
            }));
    }
    return asked;
}

AllAsked ask_for_scores(const Submission& submission) {
    const ModelDirectory& model = submission.model->directory();
    const bool reads_source = traits(model.config.architecture).reads_source;
    if (reads_source != submission.targets.has_value()) {
        throw Failure(HS_INVALID, reads_source
                                      ? "HS_SCORE of a translation model needs targets: a translation of each input"
                                      : "HS_SCORE of a language model scores the inputs: leave the targets out");
    }
    const DecodingChoices choices = submission.options.decoding(model);
    ScoreRequest request{
        .sources = reads_source ? submission.inputs : std::vector<std::string>(submission.inputs.size()),
        .targets = reads_source ? *submission.targets : submission.inputs,
        .languages = submission.model->search_options(choices).languages};
    request.batch_tokens = choices.batch_tokens.value_or(request.batch_tokens);
    request.edits = edits_of(submission);
    auto asked_for = std::make_shared<const ScoreRequest>(request);
    AllAsked asked;
    asked.push_back(std::make_unique<AskedTicket<ScoreRequest>>(
        submission.engine.submit(submission.model, std::move(request), submission.terms), 0, submission.inputs,
        [model = submission.model, asked_for](std::vector<ScoredPair> pairs, std::vector<InputResult>& results) {
            for (std::size_t i = 0; i < pairs.size(); ++i) {
                ScoredPair& pair = pairs[i];
                InputResult result{.problem = pair.problem,
                                   .status = status_of_problem(pair.problem),
                                   .json = dumped(score_json(model->directory(), static_cast<std::int64_t>(i) + 1,
                                                             asked_for->sources[i], asked_for->targets[i], pair))};
                if (result.problem.empty()) {
                    Choice choice{.text = asked_for->targets[i], .log_probability = pair.log_probability};
                    put(choice, "tokens", list_of(std::move(pair.target_ids)));
                    put(choice, "token_log_probabilities", list_of(std::move(pair.log_probabilities)));
                    result.choices.push_back(std::move(choice));
                }
                results.push_back(std::move(result));
            }
        }));
    return asked;
}

}  // namespace headscope
