#include "infer/beam_search.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "support/check.h"

namespace headscope {

namespace {

// The rows of the next step, of all unfinished sentences side by side.
struct Rows {
    std::vector<std::int32_t> tokens;
    std::vector<std::int32_t> parents;
};

void append_live(Rows& rows, const SentenceBeam& sentence, std::int64_t first_row) {
    for (std::int64_t i = 0; i < sentence.live(); ++i) {
        rows.tokens.push_back(sentence.newest(i));
        rows.parents.push_back(static_cast<std::int32_t>(first_row + sentence.parent(i)));
    }
}

// Visits every unfinished sentence with its first row.
template <class Visit>
void for_unfinished(std::vector<SentenceBeam>& sentences, const Visit& visit) {
    std::int64_t first_row = 0;
    for (SentenceBeam& sentence : sentences) {
        if (!sentence.done()) {
            const std::int64_t width = sentence.live();
            visit(sentence, first_row);
            first_row += width;
        }
    }
}

// Advances all unfinished sentences by one step; asks for the probabilities of all tokens only if some sentence needs
// them. Returns the rows of the next step.
Rows step(Scorer& scorer, const Rows& rows, std::vector<SentenceBeam>& sentences) {
    const std::int64_t vocabulary = scorer.vocabulary();
    std::int64_t least = 1;
    std::int64_t most = 1;
    bool all = false;
    for_unfinished(sentences, [&](const SentenceBeam& sentence, std::int64_t) {
        least = std::max(least, sentence.wanted(vocabulary));
        most = std::max(most, sentence.most_wanted(vocabulary));
        all = all || sentence.wants_all();
    });
    const auto count = static_cast<std::int64_t>(rows.tokens.size());
    Rows following;
    const auto advance = [&](const auto& next) {
        HEADSCOPE_CHECK(next.rows == count, "the scorer returned a different number of rows");
        for_unfinished(sentences, [&](SentenceBeam& sentence, std::int64_t first_row) {
            sentence.advance(next, first_row);
            if (!sentence.done()) {
                append_live(following, sentence, first_row);
            }
        });
    };
    if (all || least > Scorer::kMostRanked) {
        advance(scorer.step_all(rows.tokens, rows.parents));
    } else {
        const auto enough = [&](const NextTokens& next) {
            bool found = true;
            for_unfinished(sentences, [&](const SentenceBeam& sentence, std::int64_t first_row) {
                found = found && sentence.enough(next, first_row);
            });
            return found;
        };
        advance(scorer.step_until(rows.tokens, rows.parents, static_cast<int>(least),
                                  static_cast<int>(std::min<std::int64_t>(most, Scorer::kMostRanked)), enough));
    }
    return following;
}

}  // namespace

const NextTokens& Scorer::step_until(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                                     int /*k*/, int most, const std::function<bool(const NextTokens&)>& /*enough*/) {
    return step(tokens, parents, most);
}

const AllTokens& Scorer::step_all(const std::vector<std::int32_t>&, const std::vector<std::int32_t>&) {
    check_failed(__FILE__, __LINE__, "step_all", "this scorer only ranks the likeliest tokens");
}

std::vector<std::vector<Hypothesis>> search_tasks(Scorer& scorer, const std::vector<SearchTask>& tasks,
                                                  std::int32_t bos, const TokenRules& rules,
                                                  const SearchOptions& options) {
    check_search_options(options);
    std::vector<SentenceBeam> sentences;
    Rows rows;
    for (const SearchTask& task : tasks) {
        rows.tokens.push_back(task.prompt.empty() ? bos : task.prompt.back());
        rows.parents.push_back(static_cast<std::int32_t>(sentences.size()));
        sentences.emplace_back(options, rules, task);
    }
    while (!rows.tokens.empty()) {
        rows = step(scorer, rows, sentences);
    }
    std::vector<std::vector<Hypothesis>> results;
    results.reserve(sentences.size());
    std::transform(sentences.begin(), sentences.end(), std::back_inserter(results),
                   [](const SentenceBeam& sentence) { return sentence.hypotheses(); });
    return results;
}

std::vector<Hypothesis> search(Scorer& scorer, const std::vector<std::int64_t>& limits, std::int32_t bos,
                               const TokenRules& rules, const SearchOptions& options) {
    std::vector<SearchTask> tasks;
    std::transform(limits.begin(), limits.end(), std::back_inserter(tasks),
                   [](std::int64_t limit) { return SearchTask{.limit = limit}; });
    std::vector<Hypothesis> best;
    for (std::vector<Hypothesis>& hypotheses : search_tasks(scorer, tasks, bos, rules, options)) {
        best.push_back(std::move(hypotheses.front()));
    }
    return best;
}

}  // namespace headscope
