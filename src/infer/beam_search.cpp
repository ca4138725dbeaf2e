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

// How many steps greedy rows may go on by themselves before they are looked at: only one if a sentence wants more
// tokens of the next step than a device ranks.
int most_ahead(const Scorer& scorer, const SearchOptions& options, std::vector<SentenceBeam>& sentences) {
    const int most = options.beam > 1 ? 1 : scorer.most_ahead();
    if (most == 1) {
        return 1;
    }
    std::int64_t remaining = 1;
    bool ranked = true;
    for_unfinished(sentences, [&](const SentenceBeam& sentence, std::int64_t) {
        remaining = std::max(remaining, sentence.remaining());
        ranked = ranked && !sentence.wants_all() && sentence.wanted(scorer.vocabulary()) <= Scorer::kMostRanked;
    });
    return ranked ? static_cast<int>(std::min<std::int64_t>(remaining, most)) : 1;
}

// Whether these tokens are all that the next step of a sentence needs.
bool suffices(const SentenceBeam& sentence, std::int64_t vocabulary, const NextTokens& next, std::int64_t row) {
    return !sentence.wants_all() && sentence.wanted(vocabulary) <= next.k && sentence.enough(next, row);
}

// Runs `count` greedy steps at once and takes from them what single steps would give: up to the first one in which a
// sentence needs other tokens, or does not go on with its likeliest one. Returns how many those are. Sentences that end
// stay in the batch until then.
int run_ahead(Scorer& scorer, Rows& rows, std::vector<SentenceBeam>& sentences, int count) {
    struct Running {
        SentenceBeam* sentence;
        std::int64_t row;
    };
    std::vector<Running> running;
    std::int64_t k = 1;
    for_unfinished(sentences, [&](SentenceBeam& sentence, std::int64_t row) {
        running.push_back({&sentence, row});
        k = std::max(k, sentence.wanted(scorer.vocabulary()));
    });
    int kept = 0;
    for (const NextTokens& next : scorer.run_ahead(rows.tokens, rows.parents, static_cast<int>(k), count)) {
        const bool all_suffice = std::all_of(running.begin(), running.end(), [&](const Running& one) {
            return one.sentence->done() || suffices(*one.sentence, scorer.vocabulary(), next, one.row);
        });
        if (!all_suffice) {
            break;
        }
        ++kept;
        bool goes_on = false;
        bool agrees = true;
        for (const Running& one : running) {
            if (!one.sentence->done()) {
                one.sentence->advance(next, one.row);
                const bool ended = one.sentence->done();
                goes_on = goes_on || !ended;
                agrees = agrees &&
                         (ended || one.sentence->newest(0) == next.tokens[static_cast<std::size_t>(one.row * next.k)]);
            }
        }
        if (!goes_on || !agrees) {
            break;
        }
    }
    scorer.keep(kept);
    Rows following;
    for (const Running& one : running) {
        if (!one.sentence->done()) {
            following.tokens.push_back(kept > 0 ? one.sentence->newest(0)
                                                : rows.tokens[static_cast<std::size_t>(one.row)]);
            following.parents.push_back(static_cast<std::int32_t>(one.row));
        }
    }
    rows = std::move(following);
    return kept;
}

}  // namespace

std::span<const NextTokens> Scorer::run_ahead(const std::vector<std::int32_t>&, const std::vector<std::int32_t>&, int,
                                              int) {
    check_failed(__FILE__, __LINE__, "run_ahead", "this scorer makes single steps");
}

void Scorer::keep(int) {
    check_failed(__FILE__, __LINE__, "keep", "this scorer makes single steps");
}

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
    int ahead = 1;  // twice as many after each time that all were wanted
    while (!rows.tokens.empty()) {
        const int count = std::min(ahead, most_ahead(scorer, options, sentences));
        if (count > 1) {
            ahead = run_ahead(scorer, rows, sentences, count) == count ? 2 * count : 1;
        } else {
            rows = step(scorer, rows, sentences);
            ahead = 2;
        }
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
