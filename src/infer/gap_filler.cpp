#include "infer/gap_filler.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "data/corruption.h"
#include "infer/continuation.h"
#include "infer/masked_text.h"
#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

// The pieces of each gap in an output, with the sum of their log-probabilities; nothing of a gap that it does not
// write.
std::vector<std::optional<GapCandidate>> gaps_of(const Tokenizer& tokenizer, const std::vector<std::int32_t>& sentinels,
                                                 std::span<const std::int32_t> output,
                                                 std::span<const double> log_probabilities) {
    std::vector<std::optional<GapCandidate>> found(sentinels.size());
    GapCandidate* open = nullptr;
    for (std::size_t i = 0; i < output.size(); ++i) {
        const std::int32_t id = output[i];
        if (tokenizer.vocabulary().piece(id).kind == PieceKind::Control) {
            const auto gap = std::ranges::find(sentinels, id) - sentinels.begin();
            open = nullptr;
            if (gap < std::ssize(sentinels)) {
                std::optional<GapCandidate>& one = found[static_cast<std::size_t>(gap)];
                open = one ? &*one : &one.emplace();
            }
        } else if (open != nullptr) {
            open->ids.push_back(id);
            open->log_probability += log_probabilities[i];
        }
    }
    for (std::size_t gap = 0; gap < found.size(); ++gap) {
        if (found[gap]) {
            found[gap]->text = decode_after(tokenizer, {sentinels[gap]}, found[gap]->ids);
        }
    }
    return found;
}

DecodingOptions gap_decoding(const LoadedModel& models, int count, Compute compute) {
    SearchOptions search = models.search_options({});
    search.n_best = std::min(count, search.beam);
    return {.search = search, .compute = compute, .split_longer_than = 0};
}

}  // namespace

bool fills_gaps(const ModelDirectory& model) {
    return traits(model.config.architecture).reads_source && model.config.generation == Generation::LeftToRight &&
           !text_vocabulary(*model.source_tokenizer).sentinels.empty();
}

std::string_view sentinel_at(std::string_view text) {
    constexpr std::string_view kSentinel = "<extra_id_";
    const std::size_t size = text.starts_with(kSentinel) ? text.find('>') + 1 : 0;  // 0 without an end
    const std::string_view found = text.substr(0, size);
    return is_sentinel(std::string(found)) ? found : std::string_view();
}

GapText find_gaps(const ModelDirectory& model, std::string_view text, std::string_view mark) {
    const Tokenizer& tokenizer = *model.source_tokenizer;
    const std::vector<std::int32_t> sentinels = text_vocabulary(tokenizer).sentinels;
    GapText found;
    bool numbered = true;  // by the text itself
    std::vector<std::int32_t> own;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view sentinel = sentinel_at(text.substr(at));
        const std::size_t size = !sentinel.empty()                   ? sentinel.size()
                                 : text.substr(at).starts_with(mark) ? mark.size()
                                                                     : 0;
        if (size > 0) {
            found.gaps.push_back({at, at + size});
            const std::optional<std::int32_t> id = tokenizer.vocabulary().find(sentinel);
            numbered = numbered && id && std::ranges::find(own, *id) == own.end();
            own.push_back(id.value_or(-1));
        }
        at += std::max<std::size_t>(size, 1);
    }
    if (found.gaps.empty()) {
        throw Error(
            fmt::format("'{}' has no {} and no <extra_id_0>: put one where words are to be filled in", text, mark));
    }
    if (!numbered && found.gaps.size() > sentinels.size()) {
        throw Error(
            fmt::format("the text has {} gaps, but the model has {} sentinels, <extra_id_0> and following: make "
                        "fewer gaps",
                        found.gaps.size(), sentinels.size()));
    }
    std::size_t done = 0;
    for (std::size_t gap = 0; gap < found.gaps.size(); ++gap) {
        found.sentinels.push_back(numbered ? own[gap] : sentinels[gap]);
        found.source += text.substr(done, found.gaps[gap].begin - done);
        found.source += tokenizer.piece(found.sentinels.back());
        done = found.gaps[gap].end;
    }
    found.source += text.substr(done);
    return found;
}

void add_gap_candidates(const Tokenizer& tokenizer, const std::vector<std::int32_t>& sentinels,
                        std::span<const std::int32_t> output, std::span<const double> log_probabilities,
                        std::vector<std::vector<GapCandidate>>& gaps) {
    HEADSCOPE_CHECK(output.size() == log_probabilities.size(), "each token has a log-probability");
    gaps.resize(sentinels.size());
    std::vector<std::optional<GapCandidate>> found = gaps_of(tokenizer, sentinels, output, log_probabilities);
    for (std::size_t gap = 0; gap < found.size(); ++gap) {
        if (found[gap] && std::ranges::find(gaps[gap], found[gap]->ids, &GapCandidate::ids) == gaps[gap].end()) {
            gaps[gap].push_back(std::move(*found[gap]));
        }
    }
}

GapSession::GapSession(const LoadedModel& models, std::string text, std::string_view mark, int count, Compute compute)
    : model_(models.model()),
      text_(std::move(text)),
      gaps_(find_gaps(model_, text_, mark)),
      work_(model_, {{.text = gaps_.source}}, gap_decoding(models, count, compute), models.longest(),
            TranslationWork::Order::LongestFirst),
      search_(models.begin(work_.batches() == 0 ? std::vector<LinePart*>() : work_.units_of(0),
                           {.search = {}, .compute = compute})) {}

FilledGaps GapSession::take() {
    if (work_.batches() > 0) {
        work_.done(0);
    }
    const TextResult outputs = work_.next().front();
    if (!outputs.problem.empty()) {
        throw Error(outputs.problem);
    }
    FilledGaps filled;
    for (const Translation& output : outputs.n_best) {
        add_gap_candidates(*model_.target_tokenizer, gaps_.sentinels, output.ids, output.token_log_probabilities,
                           filled.gaps);
    }
    std::size_t done = 0;
    for (std::size_t gap = 0; gap < gaps_.gaps.size(); ++gap) {
        filled.text += text_.substr(done, gaps_.gaps[gap].begin - done);
        if (!filled.gaps[gap].empty()) {
            append_filling(filled.text, filled.gaps[gap].front().text);
        }
        done = gaps_.gaps[gap].end;
    }
    filled.text += text_.substr(done);
    return filled;
}

}  // namespace headscope
