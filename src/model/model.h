// What training and scoring need of a model, whatever its family. Written once: training records a tape, inference does
// not.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "autograd/context.h"
#include "data/device_batch.h"
#include "model/config.h"
#include "model/parameters.h"
#include "model/position_tables.h"
#include "model/residual.h"

namespace headscope {

class Projection;
class Scope;
class ScoreOutput;
class Stack;

struct LossOptions {
    float epsilon = 0.1F;
    Smoothing smoothing = Smoothing::AllClasses;
    Tensor prior = {};  // see SmoothedCrossEntropy; undefined: even
    // As when the model is used: with OutputConfig::temperature, and FrameConfig::suppressed_ids have probability 0.
    // Not with the clusters of an adaptive output, nor with gradients of the output's bias.
    bool as_used = false;
    std::int64_t chunk_rows = 0;  // rows of logits computed at a time; 0: chosen for the device
    Tensor gradient_scale = {};   // [1] on the device, see SmoothedCrossEntropy; undefined: 1
};

// Sums over the target tokens of a batch, by weight, on the device, [1] each and of the backend's full_dtype(): add
// them up over micro-batches, divide once.
struct LossSums {
    Tensor loss;  // smoothed
    Tensor nll;   // unsmoothed
    // What else a training reports (Objective::measures), sums like these: [measures], or undefined.
    Tensor measures = {};
    Tensor row_nll = {};  // of token_loss(): the nll of each row, [rows, 1]
};

class Model {
public:
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    virtual ~Model() = default;

    const ModelConfig& config() const { return config_; }
    // Allocates what sequences of up to `length` read beside the parameters. A body that a backend may replay keeps
    // nothing that it allocates, so this comes before it.
    void prepare(Backend& backend, std::int64_t length) const;

    // The last hidden states at the target's positions: [sentences, target length, d_model].
    virtual Var states(Context& ctx, const DeviceBatch& batch) const = 0;
    // Those of batch.predicted: all, or [1, rows, d_model].
    Var predicted_states(Context& ctx, const DeviceBatch& batch) const {
        return gather(ctx, states(ctx, batch), batch.predicted);
    }
    // What states() would be if the layers behind this residual, [batch, length, d_model], added nothing.
    Var states_of_residual(Context& ctx, const Var& residual) const;
    // hidden [batch, length, d_model]; out [batch, length, vocabulary]. 3.4. For few rows; training uses loss().
    Var logits(Context& ctx, const Var& hidden) const;
    // The scores of a model that has such an output: hidden [batch, length, d_model], result [batch, length,
    // OutputConfig::scores()] of the backend's full_dtype().
    Var scores(Context& ctx, const Var& hidden) const;
    // Those of the states that have a label, each of what OutputConfig::scored names: of the state itself, or of the
    // mean of its text's states. [1, rows, scores], or [batch, length, scores] if all are predicted.
    Var label_scores(Context& ctx, const DeviceBatch& batch) const;
    // Those of whole texts, which a model gives their last tokens: [texts, 1].
    Var text_scores(Context& ctx, const DeviceBatch& batch, const DeviceGather& ends) const;
    // Projection, smoothed loss and, with a tape, the gradient of the sum of the losses back to hidden states and
    // weights. `predicted` has a class for each state; with a tape an adaptive output needs Batch::adaptive.
    LossSums token_loss(Context& ctx, const Var& hidden, const DeviceGather& predicted, const LossOptions& options,
                        std::span<const DeviceGather> adaptive = {}) const;
    // states, token_loss; with a tape also backward, which adds to the gradients of the parameters.
    LossSums loss(Context& ctx, const DeviceBatch& batch, const LossOptions& options) const;
    // The backward pass of the context's tape, if it has one, with the labels of the parts that it runs through.
    static void backward(Context& ctx);

protected:
    explicit Model(const ModelConfig& config);
    // Declares the output for scores, if the configuration has one, behind what the scope has declared.
    void add_score_output(const Scope& model);
    virtual const Projection& projection() const = 0;
    virtual const Stack& writer() const = 0;  // whose states the projection reads
    // All losses of a batch, of which those of its pieces are token_loss() of the last hidden states.
    virtual LossSums batch_loss(Context& ctx, const DeviceBatch& batch, const LossOptions& options) const;
    LossSums token_loss(Context& ctx, const Var& hidden, const DeviceBatch& batch, const LossOptions& options) const;
    // states [batch, length, d_model]; result [1, rows, d_model], or all of them.
    static Var gather(Context& ctx, const Var& states, const DeviceGather& from);

    ModelConfig config_;
    DropoutSites sites_;
    std::shared_ptr<PositionTables> positions_;

private:
    std::shared_ptr<const ScoreOutput> score_output_;
};

// The model that config.architecture names.
std::unique_ptr<Model> make_model(const ModelConfig& config, const Parameters& parameters);

}  // namespace headscope
