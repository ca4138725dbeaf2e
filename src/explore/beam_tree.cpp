#include "explore/beam_tree.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace headscope {

namespace {

std::string ordinal(std::int64_t number) {
    const std::int64_t tens = number / 10 % 10;
    const std::int64_t ones = number % 10;
    constexpr const char* kEndings[] = {"th", "st", "nd", "rd"};
    return fmt::format("{}{}", number, tens != 1 && ones <= 3 ? kEndings[ones] : kEndings[0]);
}

}  // namespace

BeamTree::BeamTree(const SearchOptions& options, const TokenRules& rules, std::int64_t limit, TextOf text_of)
    : options_(options), rules_(rules), limit_(limit), text_of_(std::move(text_of)), nodes_(1), rows_{0}, live_{0} {}

void BeamTree::add(std::size_t parent, const SentenceBeam::Candidate& candidate) {
    BeamNode node{.parent = static_cast<int>(parent),
                  .step = static_cast<int>(length_),
                  .token = candidate.token,
                  .text = text_of_(candidate.token),
                  .log_probability = candidate.log_probability,
                  .score = candidate.log_probability / length_penalty(length_, options_)};
    const std::size_t index = nodes_.size();
    if (rules_.ends(candidate.token)) {
        node.fate = BeamNode::Fate::Finished;
        node.reason = fmt::format("finished with a score of {:.3f}", node.score);
        finished_.push_back(index);
        rows_.push_back(0);
    } else {
        rows_.push_back(live_.size());
        live_.push_back(index);
    }
    nodes_.push_back(std::move(node));
}

void BeamTree::follow(const SentenceBeam& beam) {
    const std::vector<std::size_t> before = std::exchange(live_, {});
    std::vector<bool> went_on(before.size(), false);
    ++length_;
    for (std::size_t i = 0; i < beam.taken(); ++i) {
        const SentenceBeam::Candidate& candidate = beam.candidates()[i];
        if (candidate.passed) {
            continue;
        }
        const auto row = static_cast<std::size_t>(candidate.row);
        add(before[row], candidate);
        went_on[row] = true;
    }
    for (std::size_t row = 0; row < before.size(); ++row) {
        if (!went_on[row]) {
            explain_fall(before[row], static_cast<std::int64_t>(row), beam);
        }
    }
    choose_best();
    if (beam.done()) {
        end();
    }
}

void BeamTree::explain_fall(std::size_t index, std::int64_t row, const SentenceBeam& beam) {
    BeamNode& node = nodes_[index];
    node.fate = BeamNode::Fate::Fell;
    const auto& candidates = beam.candidates();
    const auto first = std::find_if(candidates.begin(), candidates.end(),
                                    [&](const SentenceBeam::Candidate& candidate) { return candidate.row == row; });
    if (first != candidates.end()) {
        const auto place = first - candidates.begin() + 1;
        const double last = candidates[beam.taken() - 1].log_probability;
        node.reason = fmt::format(
            "fell out of the beam: its best continuation ({}) was {}, and {} were taken ({:.3f} against {:.3f})",
            text_of_(first->token), ordinal(place), beam.taken(), first->log_probability, last);
    } else if (candidates.size() == SentenceBeam::most_candidates(options_, rules_)) {
        node.reason =
            fmt::format("fell out of the beam: none of its continuations was among the best {}", candidates.size());
    } else {
        node.reason = "the model gives none of its continuations a usable probability";
    }
}

// Compares finished hypotheses by score with the likeliest live one, as if that ended here. On a tie the hypothesis
// that finished first wins.
void BeamTree::choose_best() {
    best_ = live_.empty() ? 0 : live_.front();
    bool has_finished = false;
    for (const std::size_t index : finished_) {
        const double more = nodes_[index].score - nodes_[best_].score;
        if (more > 0.0 || (!has_finished && (live_.empty() || more == 0.0))) {
            best_ = index;
        }
        has_finished = true;
    }
}

void BeamTree::end() {
    // A live hypothesis can win only at the limit, or if none has finished.
    const std::vector<std::size_t> live = live_;
    if (!finished_.empty() && length_ < limit_) {
        live_.clear();
        choose_best();
    }
    const double best_score = nodes_[best_].score;
    for (const std::size_t index : live) {
        BeamNode& node = nodes_[index];
        if (length_ == limit_) {
            node.fate = BeamNode::Fate::Cut;
            node.reason = fmt::format("reached the longest output, {} tokens", limit_);
            continue;
        }
        node.fate = BeamNode::Fate::Stopped;
        node.reason = options_.beam == 1 ? "a beam of 1 stops at the first end of sentence"
                      : options_.stopping != Stopping::Exact
                          ? fmt::format("the search stopped with {} finished ones", finished_.size())
                          : fmt::format("could reach a score of at most {:.3f}, and a finished one has {:.3f}",
                                        node.log_probability / length_penalty(limit_, options_), best_score);
    }
    for (const std::size_t index : finished_) {
        nodes_[index].reason += index == best_ ? ", the best" : fmt::format(", and the best has {:.3f}", best_score);
    }
    for (const std::size_t index : path_to(best_)) {
        nodes_[index].best = true;
    }
    nodes_.front().best = true;
}

std::vector<std::size_t> BeamTree::path_to(std::size_t node) const {
    std::vector<std::size_t> path;
    for (; node != 0; node = static_cast<std::size_t>(nodes_[node].parent)) {
        path.push_back(node);
    }
    std::reverse(path.begin(), path.end());
    return path;
}

}  // namespace headscope
