#include "observe/record_attention.h"

#include <algorithm>

#include <fmt/format.h>

#include "model/encoder_decoder.h"
#include "model/family.h"
#include "model/frame_of_config.h"
#include "observe/family_labels.h"
#include "support/check.h"

namespace headscope {

namespace {

// The first `queries` x `keys` weights of the first sentence, without the batch's padding.
SiteWeights without_padding(const WeightCollector::Observation& seen, std::size_t queries, std::size_t keys) {
    const std::int64_t heads = seen.shape[1];
    const std::int64_t all_queries = seen.shape[2];
    const std::int64_t all_keys = seen.shape[3];
    SiteWeights weights{seen.site, heads, static_cast<std::int64_t>(queries), static_cast<std::int64_t>(keys), {}};
    HEADSCOPE_CHECK(weights.queries <= all_queries && weights.keys <= all_keys,
                    "observed weights " + seen.shape.to_string() + " are fewer than the tokens");
    for (std::int64_t head = 0; head < heads; ++head) {
        for (std::int64_t query = 0; query < weights.queries; ++query) {
            const auto row = seen.values.begin() + (head * all_queries + query) * all_keys;
            weights.values.insert(weights.values.end(), row, row + weights.keys);
        }
    }
    return weights;
}

Tensor upload_length(Backend& backend, std::size_t length) {
    return make_from_host<std::int32_t>(backend, {1}, DType::I32, {static_cast<std::int32_t>(length)});
}

}  // namespace

Tensor upload_padded(Backend& backend, const ModelConfig& config, std::vector<std::int32_t> ids,
                     std::int64_t at_least) {
    const Padding padding{.longest = config.max_length};
    const std::int64_t length = padding.of(std::max(static_cast<std::int64_t>(ids.size()), at_least));
    ids.resize(static_cast<std::size_t>(length), padding_id(config));
    return make_from_host<std::int32_t>(backend, {1, length}, DType::I32, ids);
}

Tensor upload_types(Backend& backend, const ModelConfig& config, const std::vector<std::int32_t>& ids,
                    std::int64_t padded) {
    std::vector<std::int32_t> types = token_types_of(config, ids);
    if (types.empty()) {
        return {};
    }
    types.resize(static_cast<std::size_t>(padded), 0);
    return make_from_host<std::int32_t>(backend, {1, padded}, DType::I32, types);
}

AttentionRecord make_record(const ModelConfig& config, const RecordedText& source, std::int64_t source_pads,
                            const RecordedText* target, const std::vector<WeightCollector::Observation>& seen) {
    AttentionRecord record = empty_record(config);
    if (traits(config.architecture).reads_source) {
        record.source = source_tokens(config, source, source_pads);
    }
    if (traits(config.architecture).fills_masks) {
        record.source = target_in_tokens(config, *target);
    } else if (target != nullptr) {
        record.target_in = target_in_tokens(config, *target);
        record.target_out = target_out_tokens(config, *target);
    }
    for (const WeightCollector::Observation& one : seen) {
        record.sites.push_back(
            without_padding(one, query_tokens(record, one.site.kind).size(), key_tokens(record, one.site.kind).size()));
    }
    return record;
}

namespace {

std::string too_many_weights(const ModelConfig& config, const AttentionObserver& observer, std::int64_t source_length,
                             std::int64_t target_length, std::int64_t most) {
    double weights = 0.0;
    std::size_t sites = 0;
    for (const AttentionKind kind : {AttentionKind::EncoderSelf, AttentionKind::DecoderSelf, AttentionKind::Cross}) {
        const std::int64_t queries = kind == AttentionKind::EncoderSelf ? source_length : target_length;
        const std::int64_t keys = kind == AttentionKind::DecoderSelf ? target_length : source_length;
        for (int layer = 0; layer < layers_of(config, kind); ++layer) {
            if (observer.wants({kind, layer})) {
                weights += static_cast<double>(queries) * static_cast<double>(keys) * heads_of(config, kind);
                ++sites;
            }
        }
    }
    if (weights <= static_cast<double>(most)) {
        return {};
    }
    constexpr double kGigabyte = 1e9 / sizeof(float);
    return fmt::format(
        "the attention weights of {} tokens take {:.1f} GB, but at most {:.1f} GB are kept: give a shorter text{}",
        std::max(source_length, target_length), weights / kGigabyte, static_cast<double>(most) / kGigabyte,
        sites > 1 ? ", or choose one layer with headscope attention --layer" : "");
}

}  // namespace

std::string too_many_weights(const ModelConfig& config, const AttentionObserver& observer, const RecordedText& source,
                             std::int64_t source_pads, const RecordedText& target, std::int64_t most) {
    const auto target_length = static_cast<std::int64_t>(target_in_ids(config, target).size());
    const std::int64_t source_length = config.input.patches() ? patches_of(config)->positions()
                                       : traits(config.architecture).reads_source
                                           ? static_cast<std::int64_t>(source_ids(source).size()) + source_pads
                                           : target_length;  // a language model's only text
    return too_many_weights(config, observer, source_length, target_length, most);
}

DeviceBatch upload_picture(Backend& backend, const ModelConfig& config, const RecordedText& picture) {
    const std::vector<std::vector<std::int32_t>> sources{source_ids(picture)};
    return upload(backend,
                  make_source_batch(sources, padding_id(config), {.longest = config.max_length}, patches_of(config)));
}

namespace {

Memory read_picture_source(Context& ctx, const Model& model, const RecordedText& source) {
    const DeviceBatch batch = upload_picture(ctx.backend, model.config(), source);
    const auto* translates = dynamic_cast<const EncoderDecoder*>(&model);
    return {translates != nullptr ? translates->encode(ctx, batch.source) : model.states(ctx, batch),
            batch.source.lengths};
}

}  // namespace

Memory read_source(Context& ctx, const Model& model, const RecordedText& source, std::int64_t pads) {
    require_left_to_right(model.config());
    if (model.config().input.patches()) {
        return read_picture_source(ctx, model, source);
    }
    const auto* translates = dynamic_cast<const EncoderDecoder*>(&model);
    if (translates == nullptr) {
        return {};
    }
    const std::vector<std::int32_t> ids = source_ids(source);
    const Tensor lengths = upload_length(ctx.backend, ids.size());
    const Tensor in = upload_padded(ctx.backend, model.config(), ids, static_cast<std::int64_t>(ids.size()) + pads);
    return {translates->encode(ctx, {.ids = in, .lengths = lengths}), lengths};
}

Var read_target(Context& ctx, const Model& model, const RecordedText& target, const Memory& memory) {
    const std::vector<std::int32_t> ids = target_in_ids(model.config(), target);
    const Tensor in = upload_padded(ctx.backend, model.config(), ids, 0);
    if (const auto* translates = dynamic_cast<const EncoderDecoder*>(&model)) {
        return translates->decode(ctx, {.ids = in, .lengths = upload_length(ctx.backend, ids.size())}, memory);
    }
    return model.states(ctx, {.sentences = 1,
                              .target = {.ids = in,
                                         .types = upload_types(ctx.backend, model.config(), ids, in.dim(1)),
                                         .lengths = upload_length(ctx.backend, ids.size())}});
}

AttentionRecord record_attention(Backend& backend, const Model& model, const RecordedText& source,
                                 const RecordedText& target, const RecordOptions& options) {
    const ModelConfig& config = model.config();
    WeightCollector collector(options.sites);
    Context ctx{.backend = backend, .observer = &collector, .compute = options.compute};
    if (const std::string why = too_many_weights(config, collector, source, options.source_pads, target);
        !why.empty()) {
        throw Error(why);
    }
    const Memory memory = read_source(ctx, model, source, options.source_pads);
    const bool reads_target = !traits(config.architecture).reads_source || !target.ids.empty();
    if (reads_target) {
        read_target(ctx, model, target, memory);
    }
    return make_record(config, source, options.source_pads, reads_target ? &target : nullptr, collector.fetch(backend));
}

}  // namespace headscope
