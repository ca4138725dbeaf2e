#include "infer/prepared_line.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "infer/framed_line.h"
#include "model/family.h"
#include "support/check.h"
#include "text/sentences.h"

namespace headscope {

namespace {

std::int64_t length_of(const LinePart& unit) {
    return static_cast<std::int64_t>(unit.sentence.source_ids.size());
}

// A line and what its parts have in common.
struct Line {
    const ModelDirectory& model;
    std::string_view whole;
    Frame frame;
    std::string_view text;  // of `whole`
};

// Encodes the part `text` of a line. No pieces if it is empty or not UTF-8.
LinePart encode(const Line& line, std::string_view text) {
    LinePart unit;
    const auto begin = static_cast<std::size_t>(text.data() - line.whole.data());
    unit.sentence.span = {begin, begin + text.size()};
    try {
        unit.sentence.source_ids = line.model.source_tokenizer->encode(text);
    } catch (const Error& error) {
        unit.sentence.problem = error.what();
        return unit;
    }
    std::vector<std::int32_t>& ids = unit.sentence.source_ids;
    unit.sentence.unknown = std::ranges::find(ids, line.model.source_tokenizer->unk_id()) != ids.end();
    if (!ids.empty()) {
        ids = line.frame.source(ids);
    }
    return unit;
}

// A line that cannot be translated.
PreparedLine rejected(std::string problem) {
    PreparedLine line;
    line.units.emplace_back();
    line.units.front().sentence.problem = std::move(problem);
    return line;
}

PreparedLine too_long(std::int64_t length, std::int64_t longest, const std::string& what_to_do) {
    return rejected(fmt::format("{} pieces including the end of sentence, but the model takes at most {}: {}", length,
                                longest, what_to_do));
}

// Splits a sentence of more than `wanted` pieces again, at less certain ends.
std::vector<LinePart> encode_sentences(const Line& line, std::string_view text, std::int64_t wanted,
                                       SentenceBreaks breaks = SentenceBreaks::Usual) {
    std::vector<LinePart> units;
    for (const std::string_view sentence : split_sentences(text, breaks)) {
        LinePart unit = encode(line, sentence);
        if (length_of(unit) > wanted && breaks == SentenceBreaks::Usual) {
            std::ranges::move(encode_sentences(line, sentence, wanted, SentenceBreaks::Any), std::back_inserter(units));
        } else if (length_of(unit) > 0) {
            units.push_back(std::move(unit));
        }
    }
    return units;
}

// Splits a line of more than `wanted` pieces. `warn_unsplit`: add a remark if it cannot be split.
PreparedLine split(const Line& source, LinePart whole, std::int64_t wanted, std::int64_t longest, bool warn_unsplit) {
    const std::int64_t length = length_of(whole);
    PreparedLine line{.units = encode_sentences(source, source.text, wanted), .remark = {}};
    const std::size_t count = line.units.size();
    if (count < 2 && length > longest) {
        return too_long(length, longest, "it has no end of a sentence to split it at; split it yourself");
    }
    if (count < 2) {
        line.units.clear();
        line.units.push_back(std::move(whole));
        if (warn_unsplit) {
            line.remark =
                fmt::format("{} pieces, but no end of a sentence to split at: translated unsplit, though more than {}",
                            length, wanted);
        }
        return line;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (length_of(line.units[i]) > longest) {
            return too_long(length, longest,
                            fmt::format("after splitting, sentence {} of {} still has {} pieces; "
                                        "split it yourself",
                                        i + 1, count, length_of(line.units[i])));
        }
    }
    line.remark = fmt::format("{} pieces, more than {}: translated as {} sentences", length, wanted, count);
    return line;
}

// Sets the search task of each unit. The prefix belongs to the first unit.
void set_tasks(PreparedLine& line, const SourceLine& source, const Frame& frame, std::vector<std::int32_t> prefix,
               const SearchOptions& search, std::int64_t longest) {
    std::uint32_t part = 0;
    for (LinePart& unit : line.units) {
        unit.task = translation_task(frame, search, unit.sentence.source_ids, longest);
        unit.task.prefix.insert(unit.task.prefix.end(), prefix.begin(), prefix.end());
        unit.task.line = source.number;
        unit.task.part = part++;
        if (std::ssize(unit.task.prefix) >= unit.task.limit) {
            line = rejected(
                fmt::format("its prefix has {} pieces, but its translation has at most {} including the end: give a "
                            "shorter prefix or a larger --max-extra",
                            prefix.size(), unit.task.limit - std::ssize(frame.target_begin)));
            return;
        }
        prefix.clear();
    }
}

PreparedLine prepare_prompt(const ModelDirectory& model, const SourceLine& source, const DecodingOptions& options,
                            std::int64_t longest) {
    Frame frame = frame_of(model.config);
    frame.source_begin = frame.start_of_text();
    frame.source_end.clear();
    LinePart unit = encode({model, source.text, frame, source.text}, source.text);
    if (!unit.sentence.problem.empty()) {
        return rejected(unit.sentence.problem);
    }
    std::vector<std::int32_t>& ids = unit.sentence.source_ids;
    if (!source.ids.empty()) {
        ids = source.ids;
        const auto unknown =
            std::ranges::find_if(ids, [&](std::int32_t id) { return id < 0 || id >= model.config.target_vocabulary; });
        if (unknown != ids.end()) {
            return rejected(fmt::format("the prompt has the id {}, but the model's are 0 to {}", *unknown,
                                        model.config.target_vocabulary - 1));
        }
    }
    if (ids.empty()) {
        ids = frame.source_begin;
    }
    if (ids.empty()) {
        return rejected("the prompt is empty, but the model's texts start with a piece: give it some text");
    }
    const std::int64_t room = longest - length_of(unit) + 1;  // the last token of an output is not read
    if (room < 1) {
        return rejected(
            fmt::format("{} pieces including the beginning, but the model's context has {}: shorten the "
                        "prompt",
                        length_of(unit), longest));
    }
    if (const std::int64_t most = options.search.max_length; most > 0 && length_of(unit) >= most) {
        return rejected(
            fmt::format("{} pieces including the beginning, but \"max_length\" of the model's author is {} with the "
                        "prompt's: shorten the prompt or give --max-tokens",
                        length_of(unit), most));
    }
    unit.task = completion_task(ids, options.search, longest);
    unit.task.line = source.number;
    PreparedLine line;
    line.units.push_back(std::move(unit));
    return line;
}

void append(Translation& whole, Translation& part) {
    whole.ids.insert(whole.ids.end(), part.ids.begin(), part.ids.end());
    whole.text += whole.text.empty() || part.text.empty() ? "" : " ";
    part.begin = whole.text.size();
    whole.text += part.text;
    whole.log_probability += part.log_probability;
    whole.end = part.end == EndReason::Limit ? part.end : whole.end;
}

// The ranks to keep of a list of joined translations, best first. A joined translation has a different length penalty
// than its parts, so a later one may score higher; but none may precede the first, which is the translation without
// n-best. Different parts may join to the same text.
std::vector<std::size_t> ranks_to_keep(const std::vector<Translation>& list, bool duplicates) {
    std::vector<std::size_t> order;
    for (std::size_t rank = 0; rank < list.size(); ++rank) {
        if (list[rank].score <= list.front().score) {
            order.push_back(rank);
        }
    }
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t rank) { return list[rank].score; });
    std::vector<std::size_t> kept;
    for (const std::size_t rank : order) {
        const auto same = [&](std::size_t other) { return list[other].text == list[rank].text; };
        if (duplicates || std::ranges::none_of(kept, same)) {
            kept.push_back(rank);
        }
    }
    return kept;
}

void keep_ranks(std::vector<Translation>& list, const std::vector<std::size_t>& ranks) {
    std::vector<Translation> kept;
    for (const std::size_t rank : ranks) {
        kept.push_back(std::move(list[rank]));
    }
    list = std::move(kept);
}

void set_best(TextResult& sentence) {
    const Translation& best = sentence.n_best.front();
    sentence.target_ids = best.ids;
    sentence.text = best.text;
    sentence.log_probability = best.log_probability;
    sentence.score = best.score;
    sentence.end = best.end;
}

}  // namespace

std::vector<std::int32_t> encode_prefix(const Tokenizer& tokenizer, const std::string& prefix) {
    std::vector<std::int32_t> ids = tokenizer.encode(prefix);
    const auto unknown = std::find(ids.begin(), ids.end(), tokenizer.unk_id());
    if (unknown != ids.end()) {
        const std::vector<std::string> pieces = tokenizer.encode_pieces(prefix);
        throw Error(fmt::format("the prefix '{}' contains '{}', which is not in the model's vocabulary: remove it",
                                prefix, pieces[static_cast<std::size_t>(unknown - ids.begin())]));
    }
    return ids;
}

SearchTask translation_task(const Frame& frame, const SearchOptions& search, const std::vector<std::int32_t>& source,
                            std::int64_t longest) {
    const std::int64_t given = std::ssize(frame.target_begin);
    const std::int64_t positions = frame.patches ? frame.patches->positions() : std::ssize(source);
    return {.limit = std::min(std::max(output_limit(search, positions), given + 1), longest),
            .prefix = frame.target_begin,
            .given = frame.target_begin.size(),
            .source = reads_source(search) ? source : std::vector<std::int32_t>{}};
}

SearchTask completion_task(std::vector<std::int32_t> prompt, const SearchOptions& search, std::int64_t longest) {
    const std::int64_t length = std::ssize(prompt);
    SearchOptions without_prompt = search;
    without_prompt.max_length = search.max_length > 0 ? std::max<std::int64_t>(search.max_length - length, 1) : 0;
    // The last token of an output is not read.
    return {.limit = std::min(output_limit(without_prompt, 0), longest - length + 1),
            .prompt = prompt,
            .source = reads_source(search) ? prompt : std::vector<std::int32_t>{}};
}

namespace {

PreparedLine prepare_parts(const ModelDirectory& model, const SourceLine& source, const DecodingOptions& options,
                           std::int64_t longest) {
    if (traits(model.config.architecture).continues_text) {
        return prepare_prompt(model, source, options, longest);
    }
    FramedLine framed;
    try {
        framed = frame_line(model, options.search.languages, source.text);
    } catch (const Error& error) {
        return rejected(error.what());
    }
    if (!source.ids.empty()) {
        return rejected("only prompts of causal language models can be given as ids: give a text");
    }
    const Line text{model, source.text, std::move(framed.frame), framed.text};
    LinePart whole = encode(text, text.text);
    const bool picture = text.frame.patches.has_value();
    const std::int64_t length = picture && length_of(whole) > 0 ? text.frame.patches->positions() : length_of(whole);
    PreparedLine line;
    if (length == 0) {
        if (whole.sentence.problem.empty()) {
            whole.sentence.n_best.emplace_back();
        }
        line.units.push_back(std::move(whole));
        return line;
    }
    std::vector<std::int32_t> prefix;
    try {
        prefix = encode_prefix(*model.target_tokenizer, source.prefix);
    } catch (const Error& error) {
        return rejected(error.what());
    }
    const std::int64_t wanted = std::min(options.split_longer_than.value_or(longest), longest);
    if (wanted > 0 && length > wanted && !picture) {
        line = split(text, std::move(whole), wanted, longest, options.warn_unsplit);
    } else if (length > longest) {
        return too_long(length, longest, "split the line into sentences");
    } else {
        line.units.push_back(std::move(whole));
    }
    if (line.units.front().sentence.problem.empty()) {
        set_tasks(line, source, text.frame, std::move(prefix), options.search, longest);
        for (LinePart& unit : line.units) {
            if (options.rule_for) {
                const ByteSpan span = unit.sentence.span;
                unit.task.forbidden_after =
                    options.rule_for(std::string_view(source.text).substr(span.begin, span.end - span.begin));
            }
        }
    }
    return line;
}

}  // namespace

PreparedLine prepare_line(const ModelDirectory& model, const SourceLine& source, const DecodingOptions& options,
                          std::int64_t longest) {
    PreparedLine line = prepare_parts(model, source, options, longest);
    const auto search = std::make_shared<const SearchOptions>(options.search);
    for (LinePart& unit : line.units) {
        unit.search = search;
    }
    return line;
}

void take_hypotheses(LinePart& unit, std::vector<Hypothesis> hypotheses) {
    TextResult& sentence = unit.sentence;
    if (hypotheses.front().end == EndReason::Unusable) {
        sentence.problem = unusable_message(hypotheses.front());
        return;
    }
    std::vector<Translation> found;
    for (Hypothesis& hypothesis : hypotheses) {
        found.push_back({std::move(hypothesis.tokens), std::move(hypothesis.text), hypothesis.log_probability,
                         hypothesis.score, hypothesis.end, std::move(hypothesis.token_log_probabilities),
                         std::move(hypothesis.alternatives)});
        found.back().given = unit.task.given;
    }
    // Overwrites the results of an earlier attempt: a batch may be repeated on another device.
    sentence.n_best = std::move(found);
    sentence.problem.clear();
    set_best(sentence);
}

TextResult join_units(std::vector<TextResult> units, std::string remark, const SearchOptions& search) {
    if (units.size() == 1) {
        units.front().remark = std::move(remark);
        return std::move(units.front());
    }
    TextResult line;
    line.remark = std::move(remark);
    line.span = {units.front().span.begin, units.back().span.end};
    std::size_t common = units.front().n_best.size();
    for (std::size_t i = 0; i < units.size(); ++i) {
        const TextResult& part = units[i];
        line.source_ids.insert(line.source_ids.end(), part.source_ids.begin(), part.source_ids.end());
        line.unknown = line.unknown || part.unknown;
        common = std::min(common, part.n_best.size());
        if (!part.problem.empty() && line.problem.empty()) {
            line.problem = fmt::format("sentence {} of {}: {}", i + 1, units.size(), part.problem);
        }
    }
    if (!line.problem.empty()) {
        return line;
    }
    line.n_best.resize(common);
    for (std::size_t rank = 0; rank < common; ++rank) {
        Translation& whole = line.n_best[rank];
        for (TextResult& part : units) {
            append(whole, part.n_best[rank]);
        }
        whole.score = whole.log_probability / length_penalty(static_cast<std::int64_t>(whole.ids.size()), search);
    }
    const std::vector<std::size_t> ranks = ranks_to_keep(line.n_best, search.n_best_duplicates);
    keep_ranks(line.n_best, ranks);
    for (TextResult& part : units) {
        keep_ranks(part.n_best, ranks);
    }
    set_best(line);
    line.parts = std::move(units);
    return line;
}

}  // namespace headscope
