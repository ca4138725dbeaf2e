#include "infer/model_scorer.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "backend/convert.h"
#include "backend/ops/search.h"
#include "data/device_batch.h"
#include "model/family.h"
#include "model/frame_of_config.h"
#include "support/check.h"

namespace headscope {

namespace {

static_assert(Scorer::kMostRanked == LogSoftmaxTopK::kMaxK);

// Greedy steps that run before the host reads their tokens. Where the host computes, too, it waits for nothing, and
// steps that are taken back cost as much as any other.
int most_ahead_on(const Backend& backend) {
    return backend.replays() && !backend.device().software ? 8 : 1;
}

Tensor upload_i32(Backend& backend, const Shape& shape, const std::vector<std::int32_t>& values) {
    Tensor tensor = backend.empty(shape, DType::I32);
    backend.upload(tensor, values.data(), values.size() * sizeof(std::int32_t));
    return tensor;
}

}  // namespace

// Log probabilities and tokens side by side in one buffer: one download per step instead of two.
struct ModelScorer::Found {
    Found(Backend& backend, std::int64_t rows, int k)
        : count(rows * k),
          width(static_cast<std::int64_t>(size_of(backend.full_dtype()) / sizeof(std::int32_t))),
          both(backend.empty({count * (width + 1)}, DType::I32)),
          log_probabilities(make_tensor(both.buffer, {rows, k}, backend.full_dtype())),
          tokens(make_tensor(both.buffer, {rows, k}, DType::I32, count * width)) {}

    void read(Backend& backend, NextTokens& next) const {
        std::vector<std::byte> bytes(static_cast<std::size_t>(both.elements()) * sizeof(std::int32_t));
        backend.download(both, bytes.data(), bytes.size());
        decode(bytes.data(), next);
    }
    void decode(const std::byte* bytes, NextTokens& next) const {
        next.rows = tokens.dim(0);
        next.k = static_cast<int>(tokens.dim(1));
        next.log_probabilities.resize(static_cast<std::size_t>(count));
        next.tokens.resize(static_cast<std::size_t>(count));
        const std::size_t real = size_of(log_probabilities.dtype);
        for (std::size_t i = 0; i < next.tokens.size(); ++i) {
            next.log_probabilities[i] = load_as<float>(log_probabilities.dtype, bytes + i * real);
            next.tokens[i] = load_as<std::int32_t>(DType::I32, bytes + next.tokens.size() * real + i * 4);
        }
    }

    std::int64_t count, width;  // entries, and the size of a log probability in I32
    Tensor both, log_probabilities, tokens;
};

// The operands of a step, which stay where they are from step to step, so that it can be replayed.
struct ModelScorer::StepOperands {
    StepOperands(Backend& backend, std::int64_t row_count, int k, std::int64_t vocabulary)
        : rows(row_count),
          ids(backend.empty({rows, 1}, DType::I32)),
          logits(vocabulary > 0 ? backend.empty({rows, vocabulary}, backend.full_dtype()) : Tensor()),
          found(backend, rows, k) {}

    std::int64_t rows;
    Tensor ids;
    Tensor logits;  // undefined if nothing has ranked them again
    Found found;
};

namespace {

bool continues_twice(std::vector<std::int32_t> parents) {
    std::sort(parents.begin(), parents.end());
    return std::adjacent_find(parents.begin(), parents.end()) != parents.end();
}

// The number of rows per sentence if it is the same for all; else 1.
std::size_t rows_of_each(const std::vector<std::int32_t>& sentences) {
    const auto run_from = [&](std::size_t first) {
        const auto begin = sentences.begin() + static_cast<std::ptrdiff_t>(first);
        const auto end =
            std::find_if(begin, sentences.end(), [&](std::int32_t sentence) { return sentence != *begin; });
        return static_cast<std::size_t>(end - begin);
    };
    const std::size_t width = run_from(0);
    for (std::size_t row = width; row < sentences.size(); row += width) {
        if (run_from(row) != width) {
            return 1;
        }
    }
    return width;
}

}  // namespace

ModelScorer::ModelScorer(Context& ctx, const Generator& model, const std::vector<std::vector<std::int32_t>>& sources)
    : ctx_(ctx),
      model_(model),
      sentences_(sources.size()),
      sources_(sources.size()),
      most_ahead_(most_ahead_on(ctx.backend)) {
    std::iota(sentences_.begin(), sentences_.end(), 0);
    if (traits(model.config().architecture).continues_text) {
        prompts_ = sources;
        for (const std::vector<std::int32_t>& prompt : prompts_) {
            HEADSCOPE_CHECK(prompt.size() == prompts_.front().size(), "prompts that share a cache have equal lengths");
        }
        cache_ = model_.start(ctx_, {.sentences = std::ssize(prompts_)});
    } else {
        start(sources);
    }
}

ModelScorer::~ModelScorer() = default;

void ModelScorer::start(const std::vector<std::vector<std::int32_t>>& sources) {
    const DeviceBatch batch = upload(ctx_.backend, make_source_batch(sources, padding_id(model_.config()),
                                                                     {.multiple = ctx_.backend.device().length_multiple,
                                                                      .longest = model_.config().max_length},
                                                                     patches_of(model_.config())));
    cache_ = model_.start(ctx_, batch);
}

bool ModelScorer::read_on() {
    constexpr std::size_t kChunk = 256;  // tokens at a time, to bound memory
    const std::size_t length = prompts_.empty() ? 1 : prompts_.front().size();
    const std::size_t count = std::min(kChunk, length - 1 - read_);
    if (count > 0) {
        std::vector<std::int32_t> tokens;
        for (const std::vector<std::int32_t>& prompt : prompts_) {
            const auto begin = prompt.begin() + static_cast<std::ptrdiff_t>(read_);
            tokens.insert(tokens.end(), begin, begin + static_cast<std::ptrdiff_t>(count));
        }
        model_.read(ctx_, cache_,
                    upload_i32(ctx_.backend, {std::ssize(prompts_), static_cast<std::int64_t>(count)}, tokens));
        read_ += count;
    }
    if (read_ + 1 == length) {
        prompts_.clear();
        read_ = 0;
    }
    return !prompts_.empty();
}

bool ModelScorer::can_join() const {
    return ctx_.observer == nullptr && !branches_ && cache_.can_join();
}

std::int32_t ModelScorer::join(Scorer& other) {
    auto* added = dynamic_cast<ModelScorer*>(&other);
    HEADSCOPE_CHECK(added != nullptr && &added->model_ == &model_, "only a scorer with the same model can be joined");
    for (ModelScorer* scorer : {this, added}) {
        while (scorer->read_on()) {
        }
    }
    cache_.join(ctx_.backend, added->cache_);
    const auto first = static_cast<std::int32_t>(sentences_.size());
    const std::int32_t after = *std::ranges::max_element(sentences_) + 1;
    std::ranges::transform(added->sentences_, std::back_inserter(sentences_),
                           [&](std::int32_t sentence) { return after + sentence; });
    sources_ += added->sources_;
    return first;
}

std::int64_t ModelScorer::vocabulary() const {
    return model_.config().target_vocabulary;
}

const NextTokens& ModelScorer::step(const std::vector<std::int32_t>& tokens, const std::vector<std::int32_t>& parents,
                                    int k) {
    return step_until(tokens, parents, k, k, [](const NextTokens&) { return true; });
}

const NextTokens& ModelScorer::step_until(const std::vector<std::int32_t>& tokens,
                                          const std::vector<std::int32_t>& parents, int k, int most,
                                          const std::function<bool(const NextTokens&)>& enough) {
    HEADSCOPE_CHECK(!tokens.empty() && tokens.size() == parents.size(), "each row needs one token and one parent");
    follow(parents);
    const StepOperands& step = operands(static_cast<std::int64_t>(tokens.size()), k, most > k);
    ctx_.backend.upload(step.ids, tokens.data(), tokens.size() * sizeof(std::int32_t));
    model_.step_top_k(ctx_, cache_, step.ids, step.found.log_probabilities, step.found.tokens, step.logits);
    step.found.read(ctx_.backend, next_);
    if (most > k && !enough(next_)) {
        const Found more(ctx_.backend, step.rows, most);
        ctx_.backend.run(
            LogSoftmaxTopK{.logits = step.logits, .values = more.log_probabilities, .indices = more.tokens});
        more.read(ctx_.backend, next_);
    }
    return next_;
}

// Logits that were wanted once stay, so that steps with and without them are one sequence.
const ModelScorer::StepOperands& ModelScorer::operands(std::int64_t rows, int k, bool with_logits) {
    if (step_ == nullptr || step_->rows != rows || step_->found.tokens.dim(1) != k ||
        (with_logits && !step_->logits.defined())) {
        step_.reset();  // its memory may serve again
        step_ = std::make_unique<StepOperands>(ctx_.backend, rows, k, with_logits ? vocabulary() : 0);
    }
    return *step_;
}

// An observer would see steps that are then taken back.
int ModelScorer::most_ahead() const {
    return ctx_.observer == nullptr && cache_.can_go_back() ? most_ahead_ : 1;
}

// Each step leaves what it found in the same place, so that it can be replayed; a copy is kept for the host.
std::span<const NextTokens> ModelScorer::run_ahead(const std::vector<std::int32_t>& tokens,
                                                   const std::vector<std::int32_t>& parents, int k, int count) {
    HEADSCOPE_CHECK(!tokens.empty() && tokens.size() == parents.size(), "each row needs one token and one parent");
    follow(parents);
    Backend& backend = ctx_.backend;
    const StepOperands& step = operands(static_cast<std::int64_t>(tokens.size()), k, false);
    const Found& found = step.found;
    std::vector<std::int32_t> likeliest;
    for (std::int32_t row = 0; row < step.rows; ++row) {
        likeliest.push_back(row * k);
    }
    const Tensor places = upload_i32(backend, {step.rows}, likeliest);
    const std::int64_t size = found.both.elements();
    const Tensor all = backend.empty({count, size}, DType::I32);
    backend.upload(step.ids, tokens.data(), tokens.size() * sizeof(std::int32_t));
    for (int i = 0; i < count; ++i) {
        if (i > 0) {
            backend.run(GatherRows{
                .x = found.tokens.reshape({step.rows * k}), .index = places, .out = step.ids.reshape({step.rows})});
        }
        model_.step_top_k(ctx_, cache_, step.ids, found.log_probabilities, found.tokens, step.logits);
        backend.run(GatherRows{
            .x = found.both.reshape({1, size}), .index = places.narrow(0, 0, 1), .out = all.narrow(0, i, 1)});
    }
    const std::size_t bytes_each = static_cast<std::size_t>(size) * sizeof(std::int32_t);
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * bytes_each);
    backend.download(all, bytes.data(), bytes.size());
    ahead_.resize(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < ahead_.size(); ++i) {
        found.decode(bytes.data() + i * bytes_each, ahead_[i]);
    }
    return ahead_;
}

void ModelScorer::keep(int count) {
    HEADSCOPE_CHECK(count >= 0 && count <= std::ssize(ahead_), "no more steps can be kept than were made");
    cache_.go_back(ctx_.backend, std::ssize(ahead_) - count);
}

const AllTokens& ModelScorer::step_all(const std::vector<std::int32_t>& tokens,
                                       const std::vector<std::int32_t>& parents) {
    HEADSCOPE_CHECK(!tokens.empty() && tokens.size() == parents.size(), "each row needs one token and one parent");
    follow(parents);
    const auto rows = static_cast<std::int64_t>(tokens.size());
    const Tensor logits = model_.step(ctx_, cache_, upload_i32(ctx_.backend, {rows, 1}, tokens));
    all_ = {.rows = rows, .vocabulary = vocabulary(), .log_probabilities = to_host<float>(ctx_.backend, logits)};
    for (std::int64_t row = 0; row < rows; ++row) {
        all_.log_sums.push_back(log_softmax(all_.row(row)));
    }
    return all_;
}

void ModelScorer::follow(const std::vector<std::int32_t>& parents) {
    while (read_on()) {
    }
    bool in_place = parents.size() == sentences_.size();
    std::vector<std::int32_t> sentences;
    for (std::size_t row = 0; row < parents.size(); ++row) {
        in_place = in_place && parents[row] == static_cast<std::int32_t>(row);
        sentences.push_back(sentences_.at(static_cast<std::size_t>(parents[row])));
    }
    if (in_place) {
        return;
    }
    const std::size_t width_before = sentences_.size() / sources_;
    const std::size_t width = ctx_.observer == nullptr ? rows_of_each(sentences) : 1;
    std::vector<std::int32_t> sources;
    for (std::size_t row = 0; row < parents.size(); row += width) {
        sources.push_back(parents[row] / static_cast<std::int32_t>(width_before));
    }
    bool all_stay = sources.size() == sources_;
    for (std::size_t i = 0; i < sources.size() && all_stay; ++i) {
        all_stay = sentences[i * width] == sentences_[i * width_before];
    }
    const auto to_device = [&](const std::vector<std::int32_t>& rows) {
        return upload_i32(ctx_.backend, {static_cast<std::int64_t>(rows.size())}, rows);
    };
    const Tensor kept_sources = all_stay ? Tensor() : to_device(sources);
    // Only a beam continues a row twice. Without one, the rows that remain are cheaper to read if they are copied once.
    branches_ = branches_ || (cache_.by_rows && continues_twice(parents));
    if (branches_) {
        cache_.follow(ctx_.backend, parents, kept_sources);
    } else {
        cache_ = cache_.reorder(ctx_.backend, parents, kept_sources);
    }
    sentences_ = std::move(sentences);
    sources_ = sources.size();
}

}  // namespace headscope
