#include "cli/score/line_scorer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "cli/command.h"
#include "data/batcher.h"
#include "engine/in_order.h"
#include "infer/response_scores.h"
#include "model/frame_of_config.h"
#include "options/terminal.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/usage_error.h"

namespace headscope {

bool LineProblems::report(const ScoredLine& line) {
    ++lines_;
    if (line.problem.empty()) {
        return false;
    }
    ++count_;
    log_error(fmt::format("headscope: {} line {}: {}", file_, line.line, line.problem));
    return true;
}

void LineProblems::require_none(const std::string& noun, const std::string& done) const {
    if (count_ > 0) {
        throw Error(fmt::format("{} of {} were not {}", count_, counted(lines_, noun), done));
    }
}

LineScorer::LineScorer(const CommonOptions& common, std::int64_t batch_tokens)
    : models_(common.find_models()),
      opened_(common, models_, log_of_command),
      frame_(frame_of(opened_.directory().config)),
      batch_tokens_(batch_tokens) {
    if (models_.size() > 1) {
        throw UsageError("texts are scored by one model: give one --model");
    }
}

void LineScorer::score_all(const std::function<bool(ScoredLine& line)>& next,
                           const std::function<void(const std::vector<ScoredLine>& lines)>& take) {
    ask_in_order(
        opened_.engine, opened_.model, [&] { return read(next); },
        [&](const Part& part) {
            return RunRequest<Scores>{.run = [this, &part](const Place& place) { return score(place, part); },
                                      .tokens = part.tokens};
        },
        [&](const Part& part, const Scores& scores) { take(with_scores(part, scores)); });
}

std::optional<LineScorer::Part> LineScorer::read(const std::function<bool(ScoredLine& line)>& next) const {
    Part part;
    PartSize size(batch_tokens_);
    for (ScoredLine line; !size.full() && next(line); line = {}) {
        try {
            line.examples = examples_of(line);
        } catch (const Error& error) {
            line.problem = error.what();
            size.add(1);
        }
        for (const Example& example : line.examples) {
            const std::int64_t source =
                example.source.empty() ? 0 : frame_.source_positions(std::ssize(example.source));
            size.add(std::max(source, std::ssize(example.target)));
        }
        part.lines.push_back(std::move(line));
    }
    part.tokens = size.tokens();
    return part.lines.empty() ? std::nullopt : std::optional(std::move(part));
}

LineScorer::Scores LineScorer::score(const Place& place, const Part& part) const {
    std::vector<Example> examples;
    for (const ScoredLine& line : part.lines) {
        examples.insert(examples.end(), line.examples.begin(), line.examples.end());
    }
    if (examples.empty()) {
        return {};
    }
    Context ctx{.backend = place.backend, .compute = place.compute};
    return label_scores(ctx, place.model.network(), examples, frame_,
                        {.source_tokens = batch_tokens_,
                         .target_tokens = batch_tokens_,
                         .longest = opened_.directory().config.max_length});
}

std::vector<ScoredLine> LineScorer::with_scores(const Part& part, const Scores& scores) {
    std::vector<ScoredLine> lines = part.lines;
    auto of_next = scores.begin();
    for (ScoredLine& line : lines) {
        const auto end = of_next + std::ssize(line.examples);
        line.scores.assign(of_next, end);
        of_next = end;
        for (const std::vector<double>& of_example : line.scores) {
            if (!std::ranges::all_of(of_example, [](double score) { return std::isfinite(score); })) {
                throw Error(fmt::format("line {}: a score is not a finite number: the model is broken", line.line));
            }
        }
    }
    return lines;
}

void LineScorer::print_all(const std::function<bool(ScoredLine& line)>& next,
                           const std::function<std::string(const ScoredLine& line)>& printed, const std::string& name,
                           const Words& words) {
    LineProblems problems(name);
    score_all(next, [&](const std::vector<ScoredLine>& some) {
        std::string text;
        for (const ScoredLine& line : some) {
            problems.report(line);
            text += printed(line);
        }
        write_output(text);
    });
    opened().tell_idle();
    if (problems.lines() == 0) {
        throw Error(fmt::format("{} has no {}{}", name, words.noun, words.to_do));
    }
    problems.require_none(words.noun, words.done);
}

}  // namespace headscope
