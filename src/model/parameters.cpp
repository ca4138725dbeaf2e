#include "model/parameters.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

#include "backend/ops/elementwise.h"
#include "backend/precision.h"
#include "backend/quantisation.h"
#include "model/rows_in_blocks.h"
#include "support/check.h"
#include "support/hash.h"
#include "support/random.h"

namespace headscope {

namespace {

constexpr std::int64_t kAlignment = 16;  // elements: 64 bytes of F32, a cache line

double uniform(Random& random) {  // in [0, 1), 53 bits
    return static_cast<double>(random.next() >> 11U) * 0x1p-53;
}

double normal(Random& random) {  // Box and Muller, 1958
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(random)));
    return radius * std::cos(2.0 * std::numbers::pi * uniform(random));
}

// Glorot and Bengio, 2010: variance 2 / (in + out). q, k and v get half of it, as in fairseq and in PyTorch, where
// [q; k; v] is one matrix of 3 d_model rows. With it post-norm models learn much sooner, and deep ones do not ignore
// their source (docs/training.md, "Initial values").
double uniform_limit(const ParameterSpec& spec) {
    if (spec.initial == Initial::Taps) {  // a sum of k inputs keeps their variance
        return std::sqrt(3.0 / static_cast<double>(spec.shape[0]));
    }
    const double variance = 2.0 / static_cast<double>(spec.shape[0] + spec.shape[1]);
    return std::sqrt(3.0 * (spec.initial == Initial::AttentionInput ? variance / 2.0 : variance));
}

std::vector<double> initial_values(const ParameterSpec& spec, std::uint64_t seed) {
    std::vector<double> values(static_cast<std::size_t>(spec.shape.elements()), 0.0);
    // Each parameter has its own random stream, so that its values do not depend on the other parameters.
    Random random(seed, fnv1a(spec.name));
    switch (spec.initial) {
        case Initial::Zero: break;
        case Initial::One: values.assign(values.size(), 1.0); break;
        case Initial::ForgetGate: {
            const auto gate = static_cast<std::ptrdiff_t>(values.size() / 4);
            std::fill_n(values.begin() + gate, gate, 1.0);
            break;
        }
        case Initial::Glorot:
        case Initial::AttentionInput:
        case Initial::Taps: {
            const double limit = uniform_limit(spec);
            for (double& value : values) {
                value = limit * (2.0 * uniform(random) - 1.0);
            }
            break;
        }
        case Initial::Embedding: {  // multiplied by sqrt(d_model) it has variance 1, the magnitude of sinusoids
            const double deviation = 1.0 / std::sqrt(static_cast<double>(spec.shape[1]));
            for (double& value : values) {
                value = deviation * normal(random);
            }
            break;
        }
    }
    return values;
}

}  // namespace

void Parameters::place() {
    const auto aligned = [](std::int64_t at) { return (at + kAlignment - 1) / kAlignment * kAlignment; };
    for (std::size_t i = 0; i < table_.size(); ++i) {
        const Shape& shape = table_[i].shape;
        const BlockForm form = block_forms_[i];
        const bool blocks = form.bits > 0;
        const bool apart = separate_ && table_[i].multiplied;
        std::int64_t& end = blocks ? total_codes_ : apart ? total_working_ : total_;
        std::int64_t& scales = blocks ? total_block_scales_ : total_scales_;
        if (!table_[i].follows) {
            end = aligned(end);
        }
        offsets_.push_back(end);
        scale_offsets_.push_back(scales);
        scales += !table_[i].multiplied ? 0 : shape[0] * (blocks ? scale_words(shape[1], form.factors) : 1);
        index_.emplace(table_[i].name, i);
        end += blocks ? shape[0] * code_words(shape[1], form.bits) : shape.elements();
        count_ += table_[i].trained ? table_[i].shape.elements() : 0;
    }
    total_ = aligned(total_);
    total_working_ = separate_ ? aligned(total_working_) : total_;
}

Parameters::Parameters(Backend& backend, const ModelConfig& config, bool with_gradients, const WeightStorage& held,
                       const BlocksInFile& in_file)
    : backend_(backend),
      table_(describe(config).parameters),
      block_forms_(headscope::block_forms(table_, held, in_file)),
      packed_(table_.size(), false) {
    const DType storage = held.dtype;
    const bool eight = storage == DType::I8;
    const bool copied = storage == DType::F16 || storage == DType::BF16 || eight;
    HEADSCOPE_CHECK(copied || storage == DType::F32,
                    std::string("parameters are read in F32, F16, BF16 or I8, not in ") + name_of(storage));
    HEADSCOPE_CHECK(!eight || !with_gradients, "parameters in I8 have no gradients");
    HEADSCOPE_CHECK(!eight || backend.weights(storage).level != SupportLevel::None,
                    backend.device().id + " has no weights in I8");
    separate_ = copied && !with_gradients;
    place();
    HEADSCOPE_CHECK(!any_blocks() || !(with_gradients || copied), "weights in blocks have no gradients, and no copies");
    const auto zeros = [&](std::int64_t total, DType dtype) {
        Tensor flat = backend.empty({total}, dtype);
        if (dtype == backend.full_dtype() || dtype == DType::I32) {
            backend.run(Fill{.out = flat, .value = 0.0F});
        } else {  // not every backend can fill this dtype
            constexpr std::int64_t kPiece = 1 << 20;
            const std::vector<std::byte> none(static_cast<std::size_t>(std::min(total, kPiece)) * size_of(dtype));
            for (std::int64_t first = 0; first < total; first += kPiece) {
                const std::int64_t count = std::min(kPiece, total - first);
                backend.upload(flat.narrow(0, first, count), none.data(),
                               static_cast<std::size_t>(count) * size_of(dtype));
            }
        }
        return flat;
    };
    values_ = zeros(total_, backend.full_dtype());
    if (with_gradients) {
        gradients_ = zeros(total_, backend.full_dtype());
    }
    flat_ = with_gradients ? Var::parameter(values_, gradients_, "all parameters") : Var(values_);
    if (eight) {
        scales_ = zeros(total_scales_, backend.full_dtype());
    }
    if (any_blocks()) {
        codes_ = zeros(total_codes_, DType::I32);
        block_scales_ = zeros(total_block_scales_, DType::I32);
    }
    if (copied) {
        working_ = zeros(total_working_, storage);
        flat_working_ = separate_ ? Var(working_) : flat_.with_value(working_);
        if (!separate_) {
            rounded_ = working_;
        } else if (!eight && activations_beside(backend, storage) == storage) {
            rounded_ = zeros(total_, storage);
        }
    }
    for (std::size_t i = 0; i < table_.size(); ++i) {
        vars_.push_back(view(i, table_[i].shape));
    }
}

Parameters::Parameters(Backend& backend, const Parameters& lender)
    : backend_(backend),
      table_(lender.table_),
      block_forms_(lender.block_forms_),
      packed_(lender.packed_),
      separate_(lender.separate_) {
    HEADSCOPE_CHECK(!lender.gradients_.defined(), "parameters that are trained are not lent");
    place();
    const auto borrowed = [&](const Tensor& lent) {
        const Tensor own = lent.defined() ? backend.borrow(lent) : Tensor();
        HEADSCOPE_CHECK(own.defined() == lent.defined(),
                        backend.device().id + " cannot read the memory of " + lender.backend_.device().id);
        return own;
    };
    values_ = borrowed(lender.values_);
    working_ = borrowed(lender.working_);
    scales_ = borrowed(lender.scales_);
    codes_ = borrowed(lender.codes_);
    block_scales_ = borrowed(lender.block_scales_);
    rounded_ = borrowed(lender.rounded_);
    flat_ = Var(values_);
    flat_working_ = working_.defined() ? Var(working_) : Var();
    for (std::size_t i = 0; i < table_.size(); ++i) {
        vars_.push_back(view(i, table_[i].shape));
    }
}

Var Parameters::view(std::size_t index, const Shape& shape) const {
    const ParameterSpec& spec = table_[index];
    if (const BlockForm& form = block_forms_[index]; form.bits > 0) {
        const auto matrix = [&](const Tensor& flat, std::int64_t first, std::int64_t columns) {
            return flat.narrow(0, first, shape[0] * columns).reshape({shape[0], columns});
        };
        return Var::in_blocks(matrix(codes_, offsets_[index], code_words(shape[1], form.bits)),
                              matrix(block_scales_, scale_offsets_[index], scale_words(shape[1], form.factors)),
                              shape[1])
            .named(spec.name);
    }
    const Var& flat = in_working(spec) ? flat_working_ : flat_;
    const std::int64_t first = offsets_[index];
    Var seen = flat.narrow(0, first, shape.elements()).reshape(shape).named(spec.name);
    if (packed_[index]) {
        Tensor packed = seen.value();
        packed.layout = WeightLayout::Panels;
        seen = seen.with_value(packed);
    }
    if (rounded_.defined() && !spec.multiplied) {
        return seen.with_rounded(rounded_.narrow(0, first, shape.elements()).reshape(shape));
    }
    return in_eight_bits(spec) ? seen.with_scales(scales_.narrow(0, scale_offsets_[index], shape[0])) : seen;
}

void Parameters::initialise(std::uint64_t seed) {
    for (const ParameterSpec& spec : table_) {
        const std::vector<double> values = initial_values(spec, seed);
        if (in_eight_bits(spec) || block_form(spec.name).bits > 0) {
            store(spec.name, {values.begin(), values.end()});
        } else {
            from_host(backend_, stored(spec.name), values);
        }
    }
    refresh_working();
}

void Parameters::store(const std::string& name, const std::vector<float>& values) const {
    const std::size_t index = index_of(name);
    if (block_forms_[index].bits > 0) {
        store_rows(backend_, values, vars_[index], block_forms_[index]);
        return;
    }
    if (!in_eight_bits(table_[index])) {
        from_host(backend_, stored(name), values);
        return;
    }
    const auto rows = static_cast<std::size_t>(table_[index].shape[0]);
    const std::size_t columns = rows == 0 ? 0 : values.size() / rows;
    std::vector<std::int8_t> rounded(values.size());
    std::vector<float> scales(rows);
    for (std::size_t row = 0; row < rows; ++row) {
        scales[row] = quantise_row({values.data() + row * columns, columns}, rounded.data() + row * columns);
    }
    backend_.upload(stored(name), rounded.data(), rounded.size());
    from_host(backend_, vars_[index].scales(), scales);
}

std::vector<float> Parameters::values_of(const std::string& name) const {
    const std::size_t index = index_of(name);
    if (block_forms_[index].bits > 0) {
        return rows_of(backend_, vars_[index], block_forms_[index]);
    }
    std::vector<float> values = to_host<float>(backend_, stored(name));
    if (in_eight_bits(table_[index])) {
        const std::vector<float> scales = to_host<float>(backend_, vars_[index].scales());
        const std::size_t columns = scales.empty() ? 0 : values.size() / scales.size();
        for (std::size_t i = 0; i < values.size(); ++i) {
            values[i] *= scales[i / columns];
        }
    }
    return values;
}

void Parameters::refresh_working() const {
    if (rounded_.defined()) {
        backend_.run(Copy{.x = values_, .out = rounded_});
    }
}

void Parameters::pack() {
    HEADSCOPE_CHECK(!gradients_.defined(), "parameters that are trained stay in rows");
    for (std::size_t begin = 0; begin < table_.size();) {
        // What is read as one matrix, each part of which must be whole panels.
        std::size_t end = begin + 1;
        bool whole = true;
        for (; end < table_.size() && table_[end].follows; ++end) {
            whole = whole && table_[end - 1].shape[0] % Tensor::kPanelRows == 0;
        }
        for (std::size_t i = begin; i < end && whole; ++i) {
            if (table_[i].multiplied && table_[i].shape.rank() == 2 && block_forms_[i].bits == 0) {
                packed_[i] = backend_.pack(vars_[i].value()).layout == WeightLayout::Panels;
                vars_[i] = view(i, table_[i].shape);
            }
        }
        begin = end;
    }
}

const std::vector<ParameterSpec>& Parameters::table() const {
    return table_;
}

bool Parameters::has(const std::string& name) const {
    return index_.contains(name);
}

std::size_t Parameters::index_of(const std::string& name) const {
    const auto found = index_.find(name);
    HEADSCOPE_CHECK(found != index_.end(), "unknown parameter " + name);
    return found->second;
}

Var Parameters::at(const std::string& name) const {
    return vars_[index_of(name)];
}

BlockForm Parameters::block_form(const std::string& name) const {
    return block_forms_[index_of(name)];
}

Tensor Parameters::stored(const std::string& name) const {
    const std::size_t index = index_of(name);
    if (separate_ || packed_[index] || block_forms_[index].bits > 0 || !in_working(table_[index])) {
        return vars_[index].value();
    }
    const Shape& shape = table_[index].shape;
    return values_.narrow(0, offsets_[index], shape.elements()).reshape(shape);
}

Var Parameters::packed(const std::string& first, int count) const {
    const std::size_t begin = index_of(first);
    const std::size_t end = begin + static_cast<std::size_t>(count);
    HEADSCOPE_CHECK(end <= table_.size(), "fewer than " + std::to_string(count) + " parameters from " + first + " on");
    Shape shape = table_[begin].shape;
    for (std::size_t i = begin + 1; i < end; ++i) {
        const Shape& next = table_[i].shape;
        HEADSCOPE_CHECK(table_[i].follows && next.rank() == shape.rank() && (shape.rank() == 1 || next[1] == shape[1]),
                        table_[i].name + " is not adjacent to " + first);
        shape.set(0, shape[0] + next[0]);
    }
    return view(begin, shape);
}

const Tensor& Parameters::flat_values() const {
    HEADSCOPE_CHECK(!separate_ && !any_blocks() && !is_packed(), "these parameters have no masters");
    return values_;
}

const Tensor& Parameters::flat_working() const {
    HEADSCOPE_CHECK(!separate_ && !any_blocks() && !is_packed(), "these parameters have no masters");
    return working_;
}

const Tensor& Parameters::flat_gradients() const {
    HEADSCOPE_CHECK(gradients_.defined(), "these parameters have no gradients");
    return gradients_;
}

std::int64_t Parameters::total() const {
    HEADSCOPE_CHECK(!separate_ && !any_blocks() && !is_packed(), "these parameters have no masters");
    return total_;
}

std::int64_t Parameters::count() const {
    return count_;
}

std::int64_t Parameters::offset_of(const std::string& name) const {
    HEADSCOPE_CHECK(!separate_ && !any_blocks() && !is_packed(), "these parameters have no masters");
    return offsets_[index_of(name)];
}

void Parameters::forget_gradients() const {
    flat_.forget_gradient();
}

}  // namespace headscope
