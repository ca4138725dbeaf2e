// What a search is for: the rules of a model's tokens, and one sentence's task.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "infer/search_options.h"
#include "model/config.h"
#include "text/tokenizer.h"

namespace headscope {

// The tokens that start and end an output, tokens that are never chosen, and how an output is decoded.
struct TokenRules {
    std::int32_t eos = 2;
    std::vector<std::int32_t> forbidden;        // pad, bos and (normally) unk, never an end
    std::vector<std::int32_t> suppressed = {};  // of probability 0, so never among the likeliest
    std::vector<std::int32_t> other_ends = {};  // which end an output as eos does
    std::int32_t start = -1;                    // what is read before an output without a prompt
    std::int32_t pieces = INT32_MAX;            // tokens from here on are rows without a piece, never chosen
    // Decodes tokens without the end, which follow a prompt. If set, n-best lists contain each text once (unless
    // SearchOptions::n_best_duplicates).
    std::function<std::string(const std::vector<std::int32_t>& prompt, const std::vector<std::int32_t>& tokens)>
        text_of = {};

    const Tokenizer* tokenizer = nullptr;  // with which text_of decodes after the prompt; null: in another way

    bool ends(std::int32_t token) const;
    bool may_be_written(std::int32_t token) const;
};
TokenRules token_rules(const ModelConfig& config, const SearchOptions& options);
// The same with the rows that have no piece: those behind the vocabulary, to which some programs pad it.
TokenRules token_rules(const ModelConfig& config, const Tokenizer& target, const SearchOptions& options);

// The number of ids up to the last one that has a piece.
std::int32_t ids_with_pieces(const Vocabulary& vocabulary);

// The search for one sentence.
struct SearchTask {
    std::int64_t limit = 1;                 // maximum output tokens including eos; at least 1
    std::vector<std::int32_t> prefix = {};  // forced beginning of the output; shorter than the limit
    std::size_t given = 0;                  // tokens of the prefix that have probability 1 and no text
    std::vector<std::int32_t> prompt = {};  // what the output continues, of a model without a source; empty: bos
    std::uint32_t line = 0;                 // line of the text, and part of the line: keys of random sampling
    std::uint32_t part = 0;
    // The tokens that must not come after these, which begin with the prefix; may be empty.
    std::function<std::vector<std::int32_t>(const std::vector<std::int32_t>& tokens)> forbidden_after = {};
    std::vector<std::int32_t> source = {};  // complete; only for the options that compare with it
};

// Whether an option compares an output with its source.
bool reads_source(const SearchOptions& options);
// What the decoder read before the next token: the prompt or the start, and the output so far.
std::vector<std::int32_t> read_before(const TokenRules& rules, const SearchTask& task,
                                      const std::vector<std::int32_t>& tokens);

}  // namespace headscope
