#include "infer/search_task.h"

#include <algorithm>

namespace headscope {

namespace {

bool holds(const std::vector<std::int32_t>& tokens, std::int32_t token) {
    return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

}  // namespace

bool TokenRules::ends(std::int32_t token) const {
    return token == eos || holds(other_ends, token);
}

bool TokenRules::may_be_written(std::int32_t token) const {
    return token < pieces && !holds(forbidden, token) && !holds(suppressed, token);
}

TokenRules token_rules(const ModelConfig& config, const SearchOptions& options) {
    TokenRules rules{.eos = config.frame.eos_id, .forbidden = {}, .suppressed = config.frame.suppressed_ids};
    rules.start = config.frame.bos_id;
    if (!options.ends.empty()) {
        rules.eos = options.ends.front();
        rules.other_ends.assign(options.ends.begin() + 1, options.ends.end());
    }
    std::vector<std::int32_t> special{config.frame.pad_id};
    if (!options.allow_start) {
        special.push_back(config.frame.bos_id);
    }
    if (!options.allow_unknown) {
        special.push_back(config.frame.unk_id);
    }
    for (const std::int32_t id : special) {
        // Some models start from eos.
        if (id >= 0 && !rules.ends(id) && !holds(rules.forbidden, id) && !holds(rules.suppressed, id)) {
            rules.forbidden.push_back(id);
        }
    }
    return rules;
}

TokenRules token_rules(const ModelConfig& config, const Tokenizer& target, const SearchOptions& options) {
    TokenRules rules = token_rules(config, options);
    rules.pieces = ids_with_pieces(target.vocabulary());
    return rules;
}

std::int32_t ids_with_pieces(const Vocabulary& vocabulary) {
    std::int32_t size = vocabulary.size();
    while (size > 0 && vocabulary.piece(size - 1).kind == PieceKind::Unused) {
        --size;
    }
    return size;
}

bool reads_source(const SearchOptions& options) {
    return options.no_source_ngram > 0 || options.source_repetition_penalty != 1.0;
}

std::vector<std::int32_t> read_before(const TokenRules& rules, const SearchTask& task,
                                      const std::vector<std::int32_t>& tokens) {
    std::vector<std::int32_t> read = task.prompt;
    if (read.empty() && rules.start >= 0) {
        read.push_back(rules.start);
    }
    read.insert(read.end(), tokens.begin(), tokens.end());
    return read;
}

}  // namespace headscope
