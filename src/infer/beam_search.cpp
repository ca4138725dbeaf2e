#include "infer/beam_search.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "support/check.h"

namespace headscope {

namespace {

// Whether these tokens are all that the next step of a sentence needs.
bool suffices(const SentenceBeam& sentence, std::int64_t vocabulary, const NextTokens& next, std::int64_t row) {
    return !sentence.wants_all() && sentence.wanted(vocabulary) <= next.k && sentence.enough(next, row);
}

}  // namespace

// Visits every unfinished sentence with its first row.
template <class Visit>
void TokenSearch::for_unfinished(const Visit& visit) {
    std::int64_t first_row = 0;
    for (SentenceBeam& sentence : sentences_) {
        if (!sentence.done()) {
            const std::int64_t width = sentence.live();
            visit(sentence, first_row);
            first_row += width;
        }
    }
}

void TokenSearch::add(SentenceBeam sentence, std::int32_t first, std::int32_t row) {
    rows_.tokens.push_back(first);
    rows_.parents.push_back(row);
    sentences_.push_back(std::move(sentence));
}

void TokenSearch::remove(std::size_t i) {
    for_unfinished([&](const SentenceBeam& sentence, std::int64_t first_row) {
        if (&sentence == &sentences_[i]) {
            for (std::vector<std::int32_t>* rows : {&rows_.tokens, &rows_.parents}) {
                rows->erase(rows->begin() + first_row, rows->begin() + first_row + sentence.live());
            }
        }
    });
    sentences_.erase(sentences_.begin() + static_cast<std::ptrdiff_t>(i));
}

bool TokenSearch::step() {
    if (rows_.tokens.empty()) {
        return false;
    }
    const int count = std::min(ahead_, most_ahead());
    if (count > 1) {
        ahead_ = run_ahead(count) == count ? 2 * count : 1;
    } else {
        step_once();
        ahead_ = 2;
    }
    return !rows_.tokens.empty();
}

// Asks for the probabilities of all tokens only if some sentence needs them.
void TokenSearch::step_once() {
    const std::int64_t vocabulary = scorer_.vocabulary();
    std::int64_t least = 1;
    std::int64_t most = 1;
    bool all = false;
    for_unfinished([&](const SentenceBeam& sentence, std::int64_t) {
        least = std::max(least, sentence.wanted(vocabulary));
        most = std::max(most, sentence.most_wanted(vocabulary));
        all = all || sentence.wants_all();
    });
    const auto count = static_cast<std::int64_t>(rows_.tokens.size());
    Rows following;
    const auto advance = [&](const auto& next) {
        HEADSCOPE_CHECK(next.rows == count, "the scorer returned a different number of rows");
        for_unfinished([&](SentenceBeam& sentence, std::int64_t first_row) {
            sentence.advance(next, first_row);
            for (std::int64_t i = 0; i < sentence.live() && !sentence.done(); ++i) {
                following.tokens.push_back(sentence.newest(i));
                following.parents.push_back(static_cast<std::int32_t>(first_row + sentence.parent(i)));
            }
        });
    };
    if (all || least > Scorer::kMostRanked) {
        advance(scorer_.step_all(rows_.tokens, rows_.parents));
    } else {
        const auto enough = [&](const NextTokens& next) {
            bool found = true;
            for_unfinished([&](const SentenceBeam& sentence, std::int64_t first_row) {
                found = found && sentence.enough(next, first_row);
            });
            return found;
        };
        advance(scorer_.step_until(rows_.tokens, rows_.parents, static_cast<int>(least),
                                   static_cast<int>(std::min<std::int64_t>(most, Scorer::kMostRanked)), enough));
    }
    tokens_ += count;
    rows_ = std::move(following);
}

// How many steps greedy rows may go on by themselves before they are looked at: only one if a sentence has a beam or
// wants more tokens of the next step than a device ranks.
int TokenSearch::most_ahead() {
    const int most = scorer_.most_ahead();
    if (most == 1) {
        return 1;
    }
    std::int64_t remaining = 1;
    bool ranked = true;
    for_unfinished([&](const SentenceBeam& sentence, std::int64_t) {
        remaining = std::max(remaining, sentence.remaining());
        ranked = ranked && sentence.options().beam == 1 && !sentence.wants_all() &&
                 sentence.wanted(scorer_.vocabulary()) <= Scorer::kMostRanked;
    });
    return ranked ? static_cast<int>(std::min<std::int64_t>(remaining, most)) : 1;
}

// Runs `count` greedy steps at once and takes from them what single steps would give: up to the first one in which a
// sentence needs other tokens, or does not go on with its likeliest one. Returns how many those are. Sentences that end
// stay in the batch until then.
int TokenSearch::run_ahead(int count) {
    struct Running {
        SentenceBeam* sentence;
        std::int64_t row;
    };
    std::vector<Running> running;
    std::int64_t k = 1;
    for_unfinished([&](SentenceBeam& sentence, std::int64_t row) {
        running.push_back({&sentence, row});
        k = std::max(k, sentence.wanted(scorer_.vocabulary()));
    });
    int kept = 0;
    for (const NextTokens& next : scorer_.run_ahead(rows_.tokens, rows_.parents, static_cast<int>(k), count)) {
        const bool all_suffice = std::all_of(running.begin(), running.end(), [&](const Running& one) {
            return one.sentence->done() || suffices(*one.sentence, scorer_.vocabulary(), next, one.row);
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
    scorer_.keep(kept);
    Rows following;
    for (const Running& one : running) {
        if (!one.sentence->done()) {
            following.tokens.push_back(kept > 0 ? one.sentence->newest(0)
                                                : rows_.tokens[static_cast<std::size_t>(one.row)]);
            following.parents.push_back(static_cast<std::int32_t>(one.row));
        }
    }
    tokens_ += kept * std::ssize(running);
    rows_ = std::move(following);
    return kept;
}

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

std::int32_t Scorer::join(Scorer&) {
    check_failed(__FILE__, __LINE__, "join", "no sentence can join this scorer's");
}

std::vector<std::vector<Hypothesis>> search_tasks(Scorer& scorer, const std::vector<SearchTask>& tasks,
                                                  std::int32_t bos, const TokenRules& rules,
                                                  const SearchOptions& options) {
    check_search_options(options);
    TokenSearch search(scorer);
    for (const SearchTask& task : tasks) {
        search.add(SentenceBeam(options, rules, task), task.prompt.empty() ? bos : task.prompt.back(),
                   static_cast<std::int32_t>(search.size()));
    }
    while (search.step()) {
    }
    std::vector<std::vector<Hypothesis>> results;
    for (std::size_t i = 0; i < search.size(); ++i) {
        results.push_back(search.sentence(i).hypotheses());
    }
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
