#include "explore/importance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "backend/ops/elementwise.h"
#include "explore/classified.h"
#include "explore/editing_observer.h"
#include "explore/forced_pass.h"
#include "explore/repeated_request.h"
#include "model/encoder_decoder.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "observe/record_attention.h"

namespace headscope {

namespace {

// Runs a batch of copies of one sentence, each with a different head switched off.
class LeaveOneOut {
public:
    LeaveOneOut(Backend& backend, const Model& model, Compute compute, const CheckedRequest& request)
        : backend_(backend),
          model_(model),
          translates_(dynamic_cast<const EncoderDecoder*>(&model)),
          asked_(request),
          observer_(request.edits, request.source_length, nullptr),
          ctx_{.backend = backend, .observer = &observer_, .compute = compute},
          request_(backend, model.config(), request) {
        if (!request.target) {
            return;
        }
        const std::int64_t length = request_.target_length();
        target_out_ = make_from_host<std::int32_t>(backend, {1, length}, DType::I32,
                                                   predictions_of(model.config(), request).labels(length));
        if (translates_ != nullptr) {
            memory_ = encode(1);
        }
    }

    // Batch size: all heads of a layer, fewer for long sentences.
    std::int64_t copies() const {
        constexpr std::int64_t kTokens = 2048;
        return std::clamp<std::int64_t>(kTokens / request_.longest(), 1, model_.config().attention.heads);
    }

    double with_all() { return run(memory_, 1).front(); }

    // Log-probabilities of the translation without each of these heads.
    std::vector<double> without(const AttentionSite& site, const std::vector<int>& heads) {
        observer_.switch_off(site, heads);
        const auto count = static_cast<std::int64_t>(heads.size());
        std::vector<double> results = run(memory_of(site, count), count);
        observer_.switch_off(site, {});
        return results;
    }

private:
    // The encoder's output does not depend on the decoder's heads.
    Var memory_of(const AttentionSite& site, std::int64_t count) {
        if (translates_ == nullptr) {
            return {};
        }
        return site.kind == AttentionKind::EncoderSelf ? encode(count)
                                                       : Var(repeated(backend_, memory_.value(), count));
    }
    Var encode(std::int64_t count) { return translates_->encode(ctx_, request_.rows(count).source); }

    std::vector<double> run(const Var& memory, std::int64_t count) {
        if (!asked_.target) {
            return of_class(count);
        }
        const DeviceBatch batch = request_.rows(count);
        const Var hidden = translates_ != nullptr
                               ? translates_->decode(ctx_, {.ids = batch.target.ids, .lengths = batch.target.lengths},
                                                     {memory, batch.source.lengths})
                               : model_.states(ctx_, batch);  // [count, ..]
        const Tensor all = backend_.empty({count}, backend_.full_dtype());
        for (std::int64_t i = 0; i < count; ++i) {
            const LossSums sums = model_.token_loss(ctx_, hidden.narrow(0, i, 1), {.classes = target_out_},
                                                    {.epsilon = 0.0F, .as_used = true});
            backend_.run(Copy{.x = sums.nll, .out = all.narrow(0, i, 1)});
        }
        std::vector<double> results = to_host<double>(backend_, all);
        std::transform(results.begin(), results.end(), results.begin(), [](double nll) { return -nll; });
        return results;
    }

    std::vector<double> of_class(std::int64_t count) {
        std::vector<double> results;
        for (const std::vector<double>& classes : class_scores(ctx_, model_, asked_, count)) {
            results.push_back(classes[static_cast<std::size_t>(asked_.fills.front())]);
        }
        return results;
    }

    Backend& backend_;
    const Model& model_;
    const EncoderDecoder* translates_;  // null: a language model, or a classifier
    const CheckedRequest& asked_;       // without a target: of a classifier
    EditingObserver observer_;
    Context ctx_;
    RepeatedRequest request_;
    Tensor target_out_;  // I32 [1, target length]
    Var memory_;         // [1, source length, d_model]
};

std::vector<int> head_range(std::int64_t first, std::int64_t count) {
    std::vector<int> heads;
    for (std::int64_t head = first; head < first + count; ++head) {
        heads.push_back(static_cast<int>(head) + 1);
    }
    return heads;
}

}  // namespace

std::vector<AttentionSite> attention_sites(const ModelConfig& config) {
    std::vector<AttentionSite> sites;
    for (int layer = 0; layer < layers_of(config, AttentionKind::EncoderSelf); ++layer) {
        sites.push_back({AttentionKind::EncoderSelf, layer});
    }
    for (int layer = 0; layer < config.decoder_layers; ++layer) {
        for (const AttentionKind kind : {AttentionKind::DecoderSelf, AttentionKind::Cross}) {
            if (layers_of(config, kind) > 0) {
                sites.push_back({kind, layer});
            }
        }
    }
    return sites;
}

std::int64_t count_heads(const ModelConfig& config, const std::vector<AttentionSite>& sites) {
    return std::accumulate(
        sites.begin(), sites.end(), std::int64_t{0},
        [&](std::int64_t sum, const AttentionSite& site) { return sum + heads_of(config, site.kind); });
}

Importance measure_importance(Backend& backend, const LoadedModel& translator, Compute compute,
                              const CheckedRequest& request, const std::function<bool(const Importance&)>& so_far) {
    const Model& model = translator.network();
    const std::vector<AttentionSite> sites = attention_sites(model.config());
    Importance result;
    result.family = model.config().architecture;
    if (sites.empty()) {
        result.finished = true;
        result.problem = kNoAttention;
        return result;
    }
    result.problem = missing_token(predictions_of(model.config(), request));
    if (!result.problem.empty()) {
        result.finished = true;
        return result;
    }
    LeaveOneOut leave_one_out(backend, model, compute, request);
    result.total = count_heads(model.config(), sites);
    result.log_probability = leave_one_out.with_all();
    if (!std::isfinite(result.log_probability)) {
        result.finished = true;
        result.problem = fmt::format(
            "the probability of this {} is NaN or infinite: the model's weights are damaged, or training "
            "diverged",
            traits(result.family).predicted_in);
        return result;
    }
    for (const AttentionSite& site : sites) {
        const std::int64_t all_heads = heads_of(model.config(), site.kind);
        for (std::int64_t first = 0; first < all_heads; first += leave_one_out.copies()) {
            const std::vector<int> heads = head_range(first, std::min(leave_one_out.copies(), all_heads - first));
            const std::vector<double> found = leave_one_out.without(site, heads);
            for (std::size_t i = 0; i < heads.size(); ++i) {
                result.heads.push_back({site, heads[i], found[i], result.log_probability - found[i]});
            }
            result.finished = static_cast<std::int64_t>(result.heads.size()) == result.total;
            if (so_far && !so_far(result)) {
                return result;
            }
        }
    }
    return result;
}

}  // namespace headscope
