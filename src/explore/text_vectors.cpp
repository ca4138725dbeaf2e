#include "explore/text_vectors.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "autograd/hooks.h"
#include "backend/ops/elementwise.h"
#include "data/batch.h"
#include "data/device_batch.h"
#include "explore/editing_observer.h"
#include "model/encoder_decoder.h"
#include "model/family.h"
#include "model/mask_predict.h"
#include "observe/words.h"
#include "support/check.h"

namespace headscope {

namespace {

// Keeps the value of one site, on the host.
class KeptSite final : public Hooks {
public:
    explicit KeptSite(std::string site) : site_(std::move(site)) {}
    bool wants(const std::string& site) const override { return site == site_; }
    Tensor reach(Backend& backend, const std::string& /*site*/, const Tensor& value) override {
        const Tensor copy = backend.empty(value.shape, value.dtype);
        backend.run(Copy{.x = value, .out = copy});
        states = to_host<float>(backend, copy);
        return value;
    }

    std::vector<float> states;  // [batch, length, d_model]

private:
    const std::string site_;
};

// The encoder's output, or the states of a language model: [batch, length, d_model].
Var states_of(Context& ctx, const Model& model, const DeviceBatch& batch) {
    if (const auto* translates = dynamic_cast<const EncoderDecoder*>(&model)) {
        return translates->encode(ctx, batch.source);
    }
    if (const auto* predicts = dynamic_cast<const MaskPredict*>(&model)) {
        return predicts->encode(ctx, batch);
    }
    return model.states(ctx, batch);
}

int layers_read(const ModelConfig& config) {
    return has_encoder(config) ? config.encoder_layers : config.decoder_layers;
}

// Of a layer before the end of the stack.
std::string site_of(const ModelConfig& config, int layer) {
    const std::string stack = has_encoder(config) ? "encoder" : "decoder";
    return layer == 0 ? stack + ".embedding" : fmt::format("{}.{}.residual_out", stack, layer - 1);
}

// What gets a vector: the tokens [first, first + count).
std::vector<RowItem> items_of(const std::vector<RecordedToken>& tokens, const std::string& text, VectorUnit unit) {
    if (unit == VectorUnit::Line) {
        return {{.label = text, .word = text, .first = 0, .count = std::ssize(tokens)}};
    }
    return make_row(tokens, {.join_words = unit == VectorUnit::Word, .show_special = false});
}

}  // namespace

int last_vector_layer(const ModelConfig& config) {
    const bool hands_over_last_states = has_encoder(config) && has_decoder(config) && !config.attention.cross;
    return layers_read(config) - (hands_over_last_states ? 1 : 0);
}

bool has_class_token(const ModelConfig& config) {
    return traits(config.architecture).fills_masks;
}

void check_vector_options(const VectorOptions& options, const ModelConfig& config) {
    const int last = last_vector_layer(config);
    if (const int layer = options.layer.value_or(last); layer < 0 || layer > last) {
        throw Error(
            fmt::format("there is no vector after layer {}: layers of this model are 0, the embeddings, to {}{}", layer,
                        last, last < layers_read(config) ? "; its last layer has no state for each token" : ""));
    }
    if (options.unit == VectorUnit::Line && options.pooling == Pooling::First && !has_class_token(config)) {
        throw Error(
            fmt::format("this {} has no class token: its first token does not stand for the text; use the mean "
                        "or the last token",
                        name_of(config.architecture)));
    }
}

VectorSession::VectorSession(Backend& backend, const LoadedModel& model, Compute compute,
                             const std::vector<std::string>& texts, VectorOptions options, std::int64_t batch_tokens)
    : backend_(backend),
      model_(model),
      compute_(compute),
      texts_(texts),
      options_(std::move(options)),
      results_(texts.size()) {
    check_vector_options(options_, model.model().config);
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
        try {
            Line line = encode(texts_[i]);
            line.place = i;
            lengths.push_back(std::ssize(line.ids));
            lines_.push_back(std::move(line));
        } catch (const Error& error) {
            results_[i].problem = error.what();
        }
    }
    batches_ = batches_by_length(lengths, options_.edits.empty() ? batch_tokens : 1);
}

VectorSession::Line VectorSession::encode(const std::string& text) const {
    const ModelDirectory& model = model_.model();
    require_text_input(model, "a vector of a text");
    const bool reads_source = traits(model.config.architecture).reads_source;
    const RecordedText encoded =
        reads_source ? encode_source(model, options_.languages, text) : encode_language_text(model, text);
    if (encoded.ids.empty()) {
        throw Error("the text is empty: it has no piece to read");
    }
    Line line;
    line.ids = reads_source ? source_ids(encoded) : target_in_ids(model.config, encoded);
    line.tokens = reads_source ? source_tokens(model.config, encoded, 0) : target_in_tokens(model.config, encoded);
    if (std::ssize(line.ids) > model_.longest()) {
        throw Error(
            fmt::format("the text has {} pieces with those around it, but the model takes at most {}: shorten it",
                        line.ids.size(), model_.longest()));
    }
    return line;
}

bool VectorSession::step() {
    if (next_ < batches_.size()) {
        read(batches_[next_]);
        ++next_;
    }
    return next_ < batches_.size();
}

// As one batch, or in halves if the device's memory is too small.
void VectorSession::read(std::span<const std::size_t> members) {
    try {
        read_at_once(members);
    } catch (const OutOfMemory&) {
        const std::size_t half = members.size() / 2;
        if (half == 0) {
            throw;
        }
        read(members.first(half));
        read(members.subspan(half));
    }
}

void VectorSession::read_at_once(std::span<const std::size_t> members) {
    const ModelConfig& config = model_.model().config;
    std::vector<std::vector<std::int32_t>> ids, types;
    for (const std::size_t member : members) {
        ids.push_back(lines_[member].ids);
        types.push_back(token_types_of(config, ids.back()));
    }
    Tokens tokens(ids, padding_id(config), {.longest = model_.longest()});
    if (!types.front().empty()) {
        tokens.set_types(types);
    }
    DeviceBatch batch{.sentences = std::ssize(members)};
    (traits(config.architecture).reads_source ? batch.source : batch.target) = upload(backend_, tokens);

    const int layer = options_.layer.value_or(last_vector_layer(config));
    KeptSite kept(site_of(config, layer));
    EditingObserver edits(options_.edits, std::ssize(ids.front()), nullptr);
    Context ctx{.backend = backend_, .observer = options_.edits.empty() ? nullptr : &edits, .compute = compute_};
    std::vector<float> states;  // [members, padded length, d_model]
    if (layer < layers_read(config)) {
        ctx.hooks = &kept;
        states_of(ctx, model_.network(), batch);
        states = std::move(kept.states);
    } else {
        states = to_host<float>(backend_, states_of(ctx, model_.network(), batch).value());
    }
    HEADSCOPE_CHECK(std::ssize(states) == std::ssize(members) * tokens.length * config.d_model,
                    "a stack has a state for each token");
    for (std::size_t i = 0; i < members.size(); ++i) {
        const Line& line = lines_[members[i]];
        pool(line, texts_[line.place], states.data() + static_cast<std::ptrdiff_t>(i) * tokens.length * config.d_model);
    }
    tokens_ += std::ssize(members) * tokens.length;
}

// `states`: [tokens of the line or more, d_model].
void VectorSession::pool(const Line& line, const std::string& text, const float* states) {
    const std::int64_t width = model_.model().config.d_model;
    TextVectors& result = results_[line.place];
    for (RowItem& item : items_of(line.tokens, text, options_.unit)) {
        const std::int64_t first = options_.pooling == Pooling::Last ? item.first + item.count - 1 : item.first;
        const std::int64_t count = options_.pooling == Pooling::Mean ? item.count : 1;
        std::vector<double> sums(static_cast<std::size_t>(width), 0.0);
        for (std::int64_t row = first; row < first + count; ++row) {
            std::transform(sums.begin(), sums.end(), states + row * width, sums.begin(),
                           [](double sum, float state) { return sum + static_cast<double>(state); });
        }
        std::ranges::transform(sums, std::back_inserter(result.values),
                               [&](double sum) { return static_cast<float>(sum / static_cast<double>(count)); });
        result.labels.push_back(std::move(item.label));
    }
    if (!std::ranges::all_of(result.values, [](float value) { return std::isfinite(value); })) {
        result = {.labels = {},
                  .values = {},
                  .problem = "the model's states are NaN or infinite: its weights are damaged, or training diverged"};
    }
}

}  // namespace headscope
