#include "backends/vulkan/products/matrix_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <span>
#include <vector>

#include "support/random.h"
#include "tensor/dtype.h"

namespace headscope::vulkan {

namespace {

// A product that the device and the host compute. Shapes are a tile, its edges, more than one of it, and depths that
// what is staged does not divide; operands lie along the terms and across them, in fours and not.
struct Trial {
    std::int64_t batch, m, n, k;
    bool transpose_a, transpose_b;
    float alpha, beta;
    bool subnormal_row = false;  // in F16, of the first operand

    Shape shape_a() const { return transpose_a ? Shape{batch, k, m} : Shape{batch, m, k}; }
    Shape shape_b() const { return transpose_b ? Shape{batch, n, k} : Shape{batch, k, n}; }
    Shape shape_out() const { return {batch, m, n}; }
    ProductShape shape() const {
        ProductShape shape;
        shape.m = static_cast<std::uint32_t>(m);
        shape.n = static_cast<std::uint32_t>(n);
        shape.k = static_cast<std::uint32_t>(k);
        shape.a_along_k = !transpose_a;
        shape.b_along_k = transpose_b;
        shape.a_in_fours = shape_a()[2] % 4 == 0;
        shape.b_in_fours = shape_b()[2] % 4 == 0;
        return shape;
    }
};

constexpr std::array<Trial, 8> kTrials{{{1, 64, 64, 32, false, false, 1.0F, 0.0F},
                                        {3, 5, 7, 9, true, false, 1.0F, 0.5F},
                                        {2, 68, 36, 33, true, false, 2.0F, 0.0F},
                                        // and in every tile, since each stages its operands in code of its own
                                        {1, 136, 140, 48, false, true, 1.0F, 0.0F, true},
                                        {2, 33, 17, 65, false, false, -0.5F, 1.0F},
                                        {1, 70, 130, 41, true, true, 0.5F, -2.0F},
                                        {1, 140, 36, 72, false, false, 1.0F, 1.0F},
                                        {1, 36, 132, 68, true, true, 1.0F, 0.0F}}};
constexpr std::size_t kOfFirstTile = 3;

std::vector<float> noise(const Shape& shape, std::uint64_t seed) {
    Random random(seed);
    std::vector<float> values(static_cast<std::size_t>(shape.elements()));
    for (float& value : values) {
        value = static_cast<float>(random.below(1U << 24U)) / static_cast<float>(1U << 23U) - 1.0F;
    }
    return values;
}

std::vector<float> first_operand(const Trial& trial) {
    std::vector<float> a = noise(trial.shape_a(), 1);
    for (std::int64_t k = 0; trial.subnormal_row && k < trial.k; ++k) {
        a[static_cast<std::size_t>(trial.transpose_a ? k * trial.m : k)] *= 0x1p-16F;
    }
    return a;
}

double rounded(float value) {
    return double{from_f16(to_f16(value))};
}

// An entry in double, and the sum of what it is made of with every sign taken off.
struct Entry {
    double value = 0.0;
    double magnitude = 0.0;
};

Entry entry_of(const Trial& trial, const std::vector<float>& a, const std::vector<float>& b, double before,
               std::int64_t batch, std::int64_t row, std::int64_t column) {
    Entry entry;
    for (std::int64_t k = 0; k < trial.k; ++k) {
        const std::int64_t a_at = trial.transpose_a ? k * trial.m + row : row * trial.k + k;
        const std::int64_t b_at = trial.transpose_b ? column * trial.k + k : k * trial.n + column;
        const double term = rounded(a[static_cast<std::size_t>(batch * trial.m * trial.k + a_at)]) *
                            rounded(b[static_cast<std::size_t>(batch * trial.n * trial.k + b_at)]);
        entry.value += double{trial.alpha} * term;
        entry.magnitude += std::abs(double{trial.alpha} * term);
    }
    return {entry.value + double{trial.beta} * before, entry.magnitude + std::abs(double{trial.beta} * before)};
}

// The largest error over what it is an error of.
double worst_error(Backend& backend, const Trial& trial, DType stored, float factor) {
    const std::vector<float> a = first_operand(trial);
    const std::vector<float> b = noise(trial.shape_b(), 2);
    const std::vector<float> before = noise(trial.shape_out(), 3);
    const Matmul op{.a = make_from_host(backend, trial.shape_a(), stored, a),
                    .b = make_from_host(backend, trial.shape_b(), stored, b),
                    .out = make_from_host(backend, trial.shape_out(), DType::F32, before),
                    .transpose_a = trial.transpose_a,
                    .transpose_b = trial.transpose_b,
                    .alpha = trial.alpha * factor,
                    .beta = trial.beta,
                    .compute = Compute::F16};
    backend.run(op);
    const std::vector<float> got = to_host<float>(backend, op.out);
    double worst = 0.0;
    for (std::size_t i = 0; i < got.size(); ++i) {
        const auto at = static_cast<std::int64_t>(i);
        const Entry wanted =
            entry_of(trial, a, b, double{before[i]}, at / (trial.m * trial.n), at / trial.n % trial.m, at % trial.n);
        const double error = std::abs(double{got[i]} - wanted.value) / wanted.magnitude;
        worst = std::isnan(error) ? INFINITY : std::max(worst, error);
    }
    return worst;
}

}  // namespace

struct MatrixProducts::Attempt {
    Trial trial;
    DType stored;
    ProductChoice choice;
    std::shared_future<VkPipeline> compiled;
};

MatrixProducts::MatrixProducts(Backend& backend, ProductDevice& product_device, Pipelines& pipelines, bool storage16,
                               const Options& options, DeviceInfo& info)
    : backend_(backend),
      pipelines_(pipelines),
      info_(info),
      diagnostics_(options.diagnostics),
      product_device_(product_device),
      storage16_(storage16),
      error_(options.trial_error.value_or(TrialError{})) {
    if (product_device_.matrices) {
        const bool tried = product_device_.matrices->emulated ? options.trial_error.has_value() : options.matrix_trial;
        state_ = tried ? State::Untried : State::Right;
    }
}

Support MatrixProducts::support() {
    const bool used = usable();
    if (used && !product_device_.matrices->emulated) {
        return {};
    }
    return {SupportLevel::Composed, std::string("operands are rounded, then multiplied in F32") +
                                        (state_ == State::Wrong ? ", since its cooperative matrices err" : "")};
}

bool MatrixProducts::usable() {
    if (!product_device_.matrices) {
        return false;
    }
    if (state_ == State::Untried) {
        hold_trial();
    }
    return state_ != State::Wrong;
}

void MatrixProducts::hold_trial() {
    backend_.synchronize();  // where work from before fails, that is no verdict
    if (storage16_) {
        (void)backend_.empty({1}, DType::F16);  // how these are widened is settled before kernels are compiled for them
    }
    const std::vector<MatrixTile> tiles = matrix_tiles(*product_device_.matrices);
    std::vector<std::vector<Attempt>> attempts;
    for (const MatrixTile& tile : tiles) {
        const ProductChoice choice{.kernel = ProductKernel::Matrices, .block = tile.side, .subgroups = tile.subgroups};
        attempts.emplace_back();
        for (const DType stored : storage16_ ? std::vector{DType::F32, DType::F16} : std::vector{DType::F32}) {
            for (const Trial& trial : std::span(kTrials).subspan(tile == tiles.front() ? 0 : kOfFirstTile)) {
                const ProductPlan plan = plan_product(product_device_, trial.shape(), choice);
                Specialisation specialisation = plan.specialisation;
                specialisation.storage = stored;
                specialisation.converts_halves = pipelines_.converts_halves(plan.kernel, stored);
                attempts.back().push_back(
                    {trial, stored, choice, pipelines_.get(plan.kernel, specialisation).compiled});
            }
        }
    }
    state_ = State::OnTrial;
    std::vector<std::string> wrong;  // for each tile, why
    try {
        for (const std::vector<Attempt>& of_tile : attempts) {
            wrong.push_back(complaint(of_tile));
        }
    } catch (...) {
        on_trial_.reset();
        state_ = State::Untried;
        throw;
    }
    on_trial_.reset();
    if (std::none_of(wrong.begin(), wrong.end(), [](const std::string& why) { return why.empty(); })) {
        state_ = State::Wrong;
        do_without("its cooperative matrices", wrong.front());
        return;
    }
    state_ = State::Right;
    for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
        if (!wrong[tile].empty()) {
            product_device_.matrices->wrong.push_back(tiles[tile]);
            do_without(to_string(attempts[tile].front().choice), wrong[tile]);
        }
    }
}

std::string MatrixProducts::complaint(const std::vector<Attempt>& attempts) {
    // Sums in F32 err by some 2^-20 here, operands that were not rounded to nearest by some 2^-13.
    constexpr double kAllowed = 0x1p-16;
    for (const Attempt& attempt : attempts) {
        try {
            // Waited for, since a kernel that fails in the stream's hands would be the end of all that follows, too.
            attempt.compiled.get();
        } catch (const Error& error) {
            return error.what();
        }
    }
    for (const Attempt& attempt : attempts) {
        on_trial_ = attempt.choice;
        const Trial& trial = attempt.trial;
        const double error = worst_error(backend_, trial, attempt.stored, error_.factor(attempt.choice.block));
        if (error > kAllowed) {
            return fmt::format(
                "a product of {} x {} x {} in {} by {} is off by {:.1e} of its terms, and {:.1e} is allowed", trial.m,
                trial.n, trial.k, name_of(attempt.stored), to_string(attempt.choice), error, kAllowed);
        }
    }
    return "";
}

void MatrixProducts::do_without(const std::string& what, const std::string& why) {
    const auto feature = std::find_if(info_.features.begin(), info_.features.end(),
                                      [](const auto& each) { return each.first == kMatrixFeature; });
    feature->second = state_ == State::Wrong ? "fail their trial" : feature->second + ", without " + what;
    diagnostics_.warn(
        fmt::format("{} ({}) does without {}: {}; update its driver, or switch its matrices off with "
                    "HEADSCOPE_VULKAN_DISABLE=cooperative_matrix",
                    info_.id, info_.name, what, why));
}

}  // namespace headscope::vulkan
