#include "infer/forbidden_tokens.h"

#include <algorithm>
#include <array>

namespace headscope {

namespace {

using TokenIds = std::vector<std::int32_t>;

// What a rule looks at.
struct RuleStep {
    const SearchOptions& options;
    const TokenRules& rules;
    const SearchTask& task;
    const TokenIds& tokens;  // of the output
    const TokenIds& read;    // with what was read before them; empty if no rule needs it
};

// One option that forbids tokens: whether it is set, and what it forbids.
struct Rule {
    bool (*is_set)(const SearchOptions& options);
    bool reads;  // RuleStep::read
    TokenIds (*forbids)(const RuleStep& step);
};

TokenIds bad_words(const RuleStep& step) {
    TokenIds last;
    for (const TokenIds& word : step.options.bad_words) {
        const auto before = std::ssize(word) - 1;
        if (before <= std::ssize(step.read) && std::equal(word.begin(), word.end() - 1, step.read.end() - before)) {
            last.push_back(word.back());
        }
    }
    return last;
}

// The ends, if the output is too short.
TokenIds ends(const RuleStep& step) {
    const std::int64_t length = std::ssize(step.tokens);
    const auto shortest = static_cast<std::int64_t>(step.task.given) + step.options.min_length;
    if (length >= std::min(shortest, step.task.limit - 1) &&
        length + std::ssize(step.task.prompt) >= step.options.min_total) {
        return {};
    }
    TokenIds all = step.rules.other_ends;
    all.insert(all.begin(), step.rules.eos);
    return all;
}

constexpr std::array<Rule, 5> kRules = {{
    {[](const SearchOptions& options) { return options.no_repeat_ngram > 0; }, true,
     [](const RuleStep& step) { return repeating_tokens(step.read, step.read, step.options.no_repeat_ngram); }},
    {[](const SearchOptions& options) { return options.no_source_ngram > 0; }, true,
     [](const RuleStep& step) { return repeating_tokens(step.task.source, step.read, step.options.no_source_ngram); }},
    {[](const SearchOptions& options) { return !options.bad_words.empty(); }, true, bad_words},
    {[](const SearchOptions& options) { return options.min_length > 0 || options.min_total > 0; }, false, ends},
    {[](const SearchOptions& options) { return !options.bad_first.empty(); }, false,
     [](const RuleStep& step) { return step.tokens.size() == step.task.given ? step.options.bad_first : TokenIds{}; }},
}};

}  // namespace

TokenIds repeating_tokens(const TokenIds& texts, const TokenIds& written, int n) {
    TokenIds found;
    const auto before = static_cast<std::ptrdiff_t>(n) - 1;  // tokens of the n-gram before the next one
    if (std::ssize(written) < before) {
        return found;
    }
    for (std::ptrdiff_t end = before; end < std::ssize(texts); ++end) {
        const std::int32_t token = texts[static_cast<std::size_t>(end)];
        if (std::equal(written.end() - before, written.end(), texts.begin() + end - before) &&
            std::find(found.begin(), found.end(), token) == found.end()) {
            found.push_back(token);
        }
    }
    return found;
}

TokenIds forbidden_after(const SearchOptions& options, const TokenRules& rules, const SearchTask& task,
                         const TokenIds& tokens) {
    const bool reads =
        std::any_of(kRules.begin(), kRules.end(), [&](const Rule& rule) { return rule.reads && rule.is_set(options); });
    const TokenIds read = reads ? read_before(rules, task, tokens) : TokenIds{};
    TokenIds forbidden;
    const auto add = [&](const TokenIds& more) {
        for (const std::int32_t token : more) {
            if (std::find(forbidden.begin(), forbidden.end(), token) == forbidden.end()) {
                forbidden.push_back(token);
            }
        }
    };
    for (const Rule& rule : kRules) {
        if (rule.is_set(options)) {
            add(rule.forbids({options, rules, task, tokens, read}));
        }
    }
    if (task.forbidden_after) {
        add(task.forbidden_after(tokens));
    }
    return forbidden;
}

}  // namespace headscope
