#include "explore/saliency.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "autograd/hooks.h"
#include "backend/ops/elementwise.h"
#include "data/batch.h"
#include "explore/checked_request.h"
#include "explore/editing_observer.h"
#include "explore/forced_pass.h"
#include "explore/own_fills.h"
#include "explore/repeated_request.h"
#include "model/family.h"

namespace headscope {

namespace {

const std::string kEncoder = "encoder.embedding.tokens";
const std::string kDecoder = "decoder.embedding.tokens";

// Begins the tape at the token embeddings, which it multiplies by `share`.
class EmbeddingLeaves final : public Hooks {
public:
    explicit EmbeddingLeaves(float share) : share_(share) {}
    bool wants(const std::string& site) const override { return site == kEncoder || site == kDecoder; }
    bool wants_gradient(const std::string& site) const override { return wants(site); }
    Tensor reach(Backend& backend, const std::string& site, const Tensor& value) override {
        embeddings[site] = to_host<float>(backend, value.narrow(0, 0, 1));
        if (share_ == 1.0F) {
            return value;
        }
        const Tensor scaled = backend.empty(value.shape, value.dtype);
        backend.run(AddScaled{.a = value, .out = scaled, .alpha = share_});
        return scaled;
    }
    void keep(const std::string& site, const Var& value) override { leaves[site] = value; }

    std::map<std::string, std::vector<float>> embeddings;  // [1, padded length, columns]
    std::map<std::string, Var> leaves;

private:
    float share_;
};

class GradientPass {
public:
    GradientPass(Backend& backend, const Model& model, Compute compute, const CheckedRequest& request)
        : backend_(backend),
          model_(model),
          compute_(compute),
          request_(backend, model.config(), request),
          predictions_(predictions_of(model.config(), request)),
          edits_(request.edits, request.source_length, nullptr) {}

    // Predictions in one batch.
    std::int64_t rows() const {
        constexpr std::int64_t kTokens = 2048;
        return std::clamp<std::int64_t>(kTokens / request_.longest(), 1, 64);
    }

    // Adds `weight` times the gradients of these predictions; `saliency` has room for them.
    void add(Saliency& saliency, std::size_t first, std::int64_t rows, float share, float weight) {
        EmbeddingLeaves leaves(share);
        Tape tape;
        Context ctx{.backend = backend_, .tape = &tape, .observer = &edits_, .hooks = &leaves, .compute = compute_};
        std::vector<std::int32_t> classes(static_cast<std::size_t>(rows * request_.target_length()), kNoTarget);
        for (std::int64_t row = 0; row < rows; ++row) {
            const std::size_t at = first + static_cast<std::size_t>(row);
            classes[static_cast<std::size_t>(row * request_.target_length() + predictions_.positions[at])] =
                predictions_.tokens[at];
        }
        const Gather predicted(std::move(classes));
        DeviceBatch batch = request_.rows(rows);
        batch.predicted = upload(backend_, predicted);
        for (const Gather& cluster : gather_clusters(predicted, model_.config().output.adaptive.cutoffs)) {
            batch.adaptive.push_back(upload(backend_, cluster));
        }
        model_.loss(ctx, batch, {.epsilon = 0.0F, .as_used = true});
        const bool reads_source = traits(model_.config().architecture).reads_source;
        const bool decodes = has_decoder(model_.config());
        if (reads_source) {
            add(saliency.of_source, leaves, kEncoder, first, rows, weight);
        }
        add(saliency.of_target, leaves, decodes ? kDecoder : kEncoder, first, rows, weight);
    }

private:
    void add(EmbeddingGradients& to, const EmbeddingLeaves& leaves, const std::string& site, std::size_t first,
             std::int64_t rows, float weight) const {
        const Var& leaf = leaves.leaves.at(site);
        const std::int64_t padded = leaf.shape()[1];
        to.columns = leaf.shape()[2];
        to.embeddings = leaves.embeddings.at(site);
        to.embeddings.resize(static_cast<std::size_t>(to.tokens * to.columns));
        to.gradients.resize(predictions_.tokens.size() * to.embeddings.size());
        if (!leaf.has_gradient()) {  // nothing depends on it
            return;
        }
        const std::vector<float> loss = to_host<float>(backend_, leaf.gradient());  // of -log P
        for (std::int64_t row = 0; row < rows; ++row) {
            const auto from = loss.begin() + row * padded * to.columns;
            const std::size_t at = (first + static_cast<std::size_t>(row)) * to.embeddings.size();
            const auto into = to.gradients.begin() + static_cast<std::ptrdiff_t>(at);
            std::transform(from, from + std::ssize(to.embeddings), into, into,
                           [&](float gradient, float sum) { return sum - weight * gradient; });
        }
    }

    Backend& backend_;
    const Model& model_;
    Compute compute_;
    RepeatedRequest request_;
    Predictions predictions_;
    EditingObserver edits_;
};

// Why there are no gradients; empty if there are.
std::string obstacle(Backend& backend, const LoadedModel& models, const CheckedRequest& request,
                     const Predictions& predictions) {
    if (!request.problem.empty()) {
        return request.problem;
    }
    if (std::string missing = missing_token(predictions); !missing.empty()) {
        return missing;
    }
    const ModelConfig& config = models.model().config;
    if (config.adaptive() && !config.frame.suppressed_ids.empty()) {
        return "an adaptive output (\"output.adaptive\") has no gradients without its \"frame.suppressed_ids\": choose "
               "a model that has one of them";
    }
    const Parameters& parameters = models.parameters();
    for (const ParameterSpec& spec : parameters.table()) {
        if (parameters.block_form(spec.name).bits == 0 &&
            parameters.at(spec.name).value().dtype != backend.full_dtype()) {
            return fmt::format("gradients need weights in f32, but these are stored as {}: open the model with f32",
                               name_of(parameters.at(spec.name).value().dtype));
        }
    }
    return "";
}

}  // namespace

std::vector<double> EmbeddingGradients::products() const {
    std::vector<double> sums;
    const auto width = static_cast<std::size_t>(columns);
    for (std::size_t i = 0; i < gradients.size(); i += width) {
        double sum = 0.0;
        for (std::size_t column = 0; column < width; ++column) {
            sum += static_cast<double>(gradients[i + column]) *
                   static_cast<double>(embeddings[i % embeddings.size() + column]);
        }
        sums.push_back(sum);
    }
    return sums;
}

Saliency measure_saliency(Backend& backend, const LoadedModel& models, Compute compute, const ExploreRequest& request,
                          int steps, const std::function<bool()>& goes_on) {
    HEADSCOPE_CHECK(steps >= 1, "saliency takes at least one step");
    const Model& model = models.network();
    const CheckedRequest checked = check_text_with_target(models, with_own_fills(backend, models, compute, request));
    Predictions predictions;
    if (checked.problem.empty()) {
        predictions = predictions_of(model.config(), checked);
    }
    Saliency saliency{};
    saliency.problem = obstacle(backend, models, checked, predictions);
    if (!saliency.problem.empty()) {
        return saliency;
    }
    if (traits(model.config().architecture).reads_source) {
        saliency.source = source_tokens(model.config(), checked.source, 0);
    }
    saliency.target = target_in_tokens(model.config(), *checked.target);
    saliency.of_source.tokens = std::ssize(saliency.source);
    saliency.of_target.tokens = std::ssize(saliency.target);
    saliency.predicted = predictions.tokens;
    for (const std::int32_t token : predictions.tokens) {
        saliency.predicted_texts.push_back(token_text(*models.model().target_tokenizer, model.config(), token));
    }
    GradientPass pass(backend, model, compute, checked);
    const auto count = static_cast<std::int64_t>(predictions.tokens.size());
    for (int step = 0; step < steps; ++step) {
        const float share = steps == 1 ? 1.0F : (static_cast<float>(step) + 0.5F) / static_cast<float>(steps);
        for (std::int64_t first = 0; first < count; first += pass.rows()) {
            if (goes_on && !goes_on()) {
                return saliency;
            }
            pass.add(saliency, static_cast<std::size_t>(first), std::min(pass.rows(), count - first), share,
                     1.0F / static_cast<float>(steps));
        }
    }
    for (const EmbeddingGradients* each : {&saliency.of_source, &saliency.of_target}) {
        if (!std::all_of(each->gradients.begin(), each->gradients.end(), [](float g) { return std::isfinite(g); })) {
            return {.problem = kUnusable};
        }
    }
    return saliency;
}

}  // namespace headscope
