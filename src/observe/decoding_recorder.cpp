#include "observe/decoding_recorder.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "infer/model_scorer.h"
#include "infer/prepared_line.h"
#include "support/check.h"

namespace headscope {

namespace {

// Appends the first `keys` weights of one row, query and head. Missing ones (keys that a causal step had not read yet)
// are 0.
void append_row(std::vector<float>& values, const WeightCollector::Observation& seen, std::size_t row,
                std::int64_t head, std::int64_t query, std::int64_t keys) {
    const std::int64_t all = seen.shape[3];
    const std::int64_t index = (static_cast<std::int64_t>(row) * seen.shape[1] + head) * seen.shape[2] + query;
    const auto from = seen.values.begin() + index * all;
    values.insert(values.end(), from, from + std::min(keys, all));
    values.insert(values.end(), static_cast<std::size_t>(std::max<std::int64_t>(0, keys - all)), 0.0F);
}

}  // namespace

DecodingRecorder::DecodingRecorder(Scorer& scorer, WeightCollector& collector, Backend& backend)
    : scorer_(scorer), collector_(collector), backend_(backend) {}

const NextTokens& DecodingRecorder::step(const std::vector<std::int32_t>& tokens,
                                         const std::vector<std::int32_t>& parents, int k) {
    const NextTokens& next = scorer_.step(tokens, parents, k);
    note(tokens, parents);
    return next;
}

const AllTokens& DecodingRecorder::step_all(const std::vector<std::int32_t>& tokens,
                                            const std::vector<std::int32_t>& parents) {
    const AllTokens& next = scorer_.step_all(tokens, parents);
    note(tokens, parents);
    return next;
}

void DecodingRecorder::note(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents) {
    Step step{tokens, parents, {}};
    for (WeightCollector::Observation& seen : collector_.fetch(backend_)) {
        auto& to = seen.site.kind == AttentionKind::EncoderSelf ? encoder_ : step.seen;
        to.push_back(std::move(seen));
    }
    steps_.push_back(std::move(step));
}

std::vector<std::size_t> DecodingRecorder::path_of(std::int64_t sentence, const std::vector<std::int32_t>& read) const {
    HEADSCOPE_CHECK(!read.empty() && read.size() <= steps_.size(), "a path has at most one token per step");
    const std::vector<std::int32_t>& last = steps_[read.size() - 1].tokens;
    for (std::size_t end = 0; end < last.size(); ++end) {
        std::vector<std::size_t> path(read.size());
        std::size_t row = end;
        bool same = true;
        for (std::size_t t = read.size(); same && t-- > 0;) {
            path[t] = row;
            same = steps_[t].tokens[row] == read[t];
            row = static_cast<std::size_t>(steps_[t].parents[row]);
        }
        if (same && static_cast<std::int64_t>(row) == sentence) {
            return path;
        }
    }
    check_failed(__FILE__, __LINE__, "path", "the search has no hypothesis with these tokens");
}

AttentionRecord DecodingRecorder::record(const ModelConfig& config, std::int64_t sentence, const RecordedText& source,
                                         const RecordedText& target) const {
    AttentionRecord record = empty_record(config);
    record.source = source_tokens(config, source, 0);
    record.target_in = target_in_tokens(config, target);
    record.target_out = target_out_tokens(config, target);
    const auto source_length = static_cast<std::int64_t>(record.source.size());
    const auto target_length = static_cast<std::int64_t>(record.target_in.size());
    for (const WeightCollector::Observation& seen : encoder_) {
        SiteWeights weights{seen.site, seen.shape[1], source_length, source_length, {}};
        for (std::int64_t head = 0; head < weights.heads; ++head) {
            for (std::int64_t query = 0; query < source_length; ++query) {
                append_row(weights.values, seen, static_cast<std::size_t>(sentence), head, query, source_length);
            }
        }
        record.sites.push_back(std::move(weights));
    }
    const std::vector<std::size_t> path = path_of(sentence, target_in_ids(config, target));
    for (std::size_t site = 0; site < steps_.front().seen.size(); ++site) {
        const WeightCollector::Observation& first = steps_.front().seen[site];
        const bool cross = first.site.kind == AttentionKind::Cross;
        SiteWeights weights{first.site, first.shape[1], target_length, cross ? source_length : target_length, {}};
        for (std::int64_t head = 0; head < weights.heads; ++head) {
            for (std::size_t t = 0; t < path.size(); ++t) {
                append_row(weights.values, steps_[t].seen[site], path[t], head, 0, weights.keys);
            }
        }
        record.sites.push_back(std::move(weights));
    }
    return record;
}

RecordedTranslation record_translation(Backend& backend, const EncoderDecoder& model, const Tokenizer& target_tokenizer,
                                       const RecordedText& source, const SearchOptions& search_options,
                                       const RecordOptions& options, const Frame& frame) {
    HEADSCOPE_CHECK(options.source_pads == 0, "pads need a teacher-forced pass");
    const ModelConfig& config = model.config();
    WeightCollector collector(options.sites);
    Context ctx{.backend = backend, .observer = &collector, .compute = options.compute};
    if (const std::string why = too_many_weights(config, collector, source, 0, {}); !why.empty()) {
        throw Error(why);
    }
    const std::vector<std::int32_t> read = source_ids(source);
    ModelScorer scorer(ctx, model, {read});
    DecodingRecorder recorder(scorer, collector, backend);
    RecordedTranslation result;
    result.hypothesis =
        search_tasks(recorder, {translation_task(frame, search_options, read, config.max_length)}, config.frame.bos_id,
                     token_rules(config, target_tokenizer, search_options), search_options)
            .front()
            .front();
    if (result.hypothesis.end == EndReason::Unusable) {
        throw Error(unusable_message(result.hypothesis));
    }
    result.record =
        recorder.record(config, 0, source,
                        text_of_output(target_tokenizer, config, result.hypothesis.tokens, frame.target_begin.size()));
    const std::vector<double>& chosen = result.hypothesis.token_log_probabilities;
    std::vector<RecordedToken>& written = result.record.target_out;
    for (std::size_t i = frame.target_begin.size(); i < std::min(chosen.size(), written.size()); ++i) {
        written[i].probability = std::exp(chosen[i]);
    }
    return result;
}

}  // namespace headscope
