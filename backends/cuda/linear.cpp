#include "backends/cuda/linear.h"

#include <algorithm>
#include <array>

#include "backend/ops/matmul.h"
#include "backend/replays.h"
#include "backends/cuda/blas.h"
#include "backends/cuda/cuda_backend.h"
#include "support/check.h"

namespace headscope::cuda {

namespace {

// More shapes than the steps of a training run and decodings of many lengths have. A plan is some hundred bytes and
// quickly made again.
constexpr std::size_t kMostPlans = 16384;

// The widest load of a kernel.
constexpr std::uintptr_t kBiasAlignment = 16;

// Kernels that split a sum over k are reported to drop the part of k past a multiple of 64 if k is long: cuBLASLt
// 12.8.5 and 13.1.1 on sm_90 and later (facebookexperimental/triton, pull request 2767).
bool may_be_split(std::int64_t k) {
    constexpr std::int64_t kTile = 64;
    constexpr std::int64_t kLong = 8192;
    return k % kTile == 0 || k < kLong;
}

using Operation = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

template <class Value>
void set(const Operation& operation, cublasLtMatmulDescAttributes_t attribute, Value value) {
    require_blas(cublasLtMatmulDescSetAttribute(operation.get(), attribute, &value, sizeof value),
                 "describe a product with an epilogue");
}

template <class Value>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute, Value value) {
    require_blas(cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
                 "take a preference");
}

Layout layout_of(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t leading) {
    cublasLtMatrixLayout_t layout = nullptr;
    require_blas(cublasLtMatrixLayoutCreate(&layout, data_type(dtype), static_cast<std::uint64_t>(rows),
                                            static_cast<std::uint64_t>(columns), leading),
                 "describe a matrix");
    return Layout(layout);
}

cublasLtEpilogue_t epilogue_of(const FusedShape& shape) {
    return shape.bias ? (shape.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS)
                      : (shape.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT);
}

Operation operation_of(const FusedShape& shape) {
    cublasLtMatmulDesc_t created = nullptr;
    require_blas(
        cublasLtMatmulDescCreate(&created, shape.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
        "describe a product with an epilogue");
    Operation operation(created);
    set(operation, CUBLASLT_MATMUL_DESC_TRANSA, static_cast<std::int32_t>(CUBLAS_OP_T));
    set(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<std::uint32_t>(epilogue_of(shape)));
    if (shape.bias) {
        // The choice of an algorithm depends only on this pointer's alignment.
        set(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER,
            reinterpret_cast<const void*>(static_cast<std::uintptr_t>(shape.bias_alignment)));
    }
    return operation;
}

Preference preference_of(const FusedShape& shape, std::size_t workspace_bytes) {
    cublasLtMatmulPreference_t created = nullptr;
    require_blas(cublasLtMatmulPreferenceCreate(&created), "take a preference");
    Preference preference(created);
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{workspace_bytes});
    // Of the ways to split a sum over k, allows only the one that keeps parts in F32 and adds them in a separate step.
    // The others (cublasLtReductionScheme_t) round them to y's type, and the in-place one adds in the order in which
    // blocks finish, which the documentation does not define.
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        static_cast<std::uint32_t>(may_be_split(shape.in) ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE
                                                          : CUBLASLT_REDUCTION_SCHEME_NONE));
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, shape.weight_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, shape.x_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, shape.y_alignment);
    set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, shape.y_alignment);
    return preference;
}

std::uintptr_t address(const Tensor& tensor) {
    return reinterpret_cast<std::uintptr_t>(data_of<void>(tensor));
}

}  // namespace

// Row-major y = x . W^T is column-major y^T [out, rows] = W [in, out]^T . x^T [in, rows]: A is the weight, B is x, and
// the bias is along a column.
struct FusedProducts::Plan {
    FusedShape shape;
    Operation operation;
    Layout weight, x, y;
    cublasLtMatmulAlgo_t algorithm{};
};

FusedShape fused_shape(const Linear& op) {
    HEADSCOPE_CHECK(op.activation == Activation::None || op.activation == Activation::Relu,
                    "cuBLASLt's other activations are not those of the contract");
    FusedShape shape;
    shape.rows = op.y.dim(0);
    shape.in = op.x.dim(1);
    shape.out = op.y.dim(1);
    shape.x_row = row_step(op.x);
    shape.weight_row = row_step(op.weight);
    shape.operands = op.x.dtype;
    shape.result = op.y.dtype;
    shape.tf32 = op.x.dtype == DType::F32 && op.compute == Compute::TF32;
    shape.bias = op.bias.defined();
    shape.relu = op.activation == Activation::Relu;
    shape.x_alignment = alignment_of(address(op.x));
    shape.weight_alignment = alignment_of(address(op.weight));
    shape.y_alignment = alignment_of(address(op.y));
    if (shape.bias) {
        shape.bias_alignment = copies_bias(op) ? kMostAlignment : alignment_of(address(op.bias));
    }
    return shape;
}

bool copies_bias(const Linear& op) {
    return op.bias.defined() && (op.bias.dtype != op.y.dtype || address(op.bias) % kBiasAlignment != 0);
}

FusedProducts::FusedProducts(Stream& stream, std::shared_ptr<CudaBuffer> workspace)
    : stream_(stream), workspace_(std::move(workspace)) {
    cublasLtHandle_t handle = nullptr;
    require_blas(cublasLtCreate(&handle), "start cuBLASLt");
    handle_.reset(handle);
}

FusedProducts::~FusedProducts() = default;

const FusedProducts::Plan* FusedProducts::plan(const FusedShape& shape) {
    stream_.use_device();
    if (const auto known = places_.find(shape); known != places_.end()) {
        plans_.splice(plans_.begin(), plans_, known->second);
        return known->second->plan.get();
    }
    if (stream_.captured()) {
        throw NotRecordedYet("no algorithm of cuBLASLt can be chosen while a graph is recorded");
    }
    plans_.push_front({shape, make_plan(shape)});
    places_[shape] = plans_.begin();
    if (plans_.size() > kMostPlans) {
        places_.erase(plans_.back().shape);
        plans_.pop_back();
    }
    return plans_.front().plan.get();
}

std::unique_ptr<FusedProducts::Plan> FusedProducts::make_plan(const FusedShape& shape) const {
    auto plan = std::make_unique<Plan>();
    plan->shape = shape;
    plan->operation = operation_of(shape);
    plan->weight = layout_of(shape.operands, shape.in, shape.out, shape.weight_row);
    plan->x = layout_of(shape.operands, shape.in, shape.rows, shape.x_row);
    plan->y = layout_of(shape.result, shape.out, shape.rows, shape.out);
    const Preference preference = preference_of(shape, workspace_->bytes());
    std::array<cublasLtMatmulHeuristicResult_t, 4> results{};  // the first may be unusable
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle_.get(), plan->operation.get(), plan->weight.get(), plan->x.get(), plan->y.get(), plan->y.get(),
        preference.get(), static_cast<int>(results.size()), results.data(), &found);
    if (refused(status)) {
        return nullptr;
    }
    require_blas(status, "choose an algorithm for a product with an epilogue");
    const auto end = results.begin() + found;
    const auto best = std::find_if(results.begin(), end, [](const cublasLtMatmulHeuristicResult_t& result) {
        return result.state == CUBLAS_STATUS_SUCCESS;
    });
    if (best == end) {
        return nullptr;
    }
    plan->algorithm = best->algo;
    return plan;
}

bool FusedProducts::multiply(const Plan& plan, const Linear& op) {
    HEADSCOPE_CHECK(fused_shape(op) == plan.shape && !copies_bias(op),
                    "a product with an epilogue was planned for another shape");
    const cublasStatus_t status = enqueue(plan, op);
    // An error within a graph: ops that ran one by one used this algorithm, and no other gives the same bits.
    if (refused(status) && !stream_.captured()) {
        places_.at(plan.shape)->plan.reset();
        return false;
    }
    enqueued_product(stream_, Linear::kName, status);
    return true;
}

cublasStatus_t FusedProducts::enqueue(const Plan& plan, const Linear& op) {
    if (plan.shape.bias) {
        set(plan.operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, data_of<const void>(op.bias));
    }
    constexpr float kOne = 1.0F;
    constexpr float kZero = 0.0F;  // y is not read
    auto* y = data_of<void>(op.y);
    return cublasLtMatmul(handle_.get(), plan.operation.get(), &kOne, data_of<const void>(op.weight), plan.weight.get(),
                          data_of<const void>(op.x), plan.x.get(), &kZero, y, plan.y.get(), y, plan.y.get(),
                          &plan.algorithm, workspace_->data(), workspace_->bytes(), stream_.handle());
}

void CudaBackend::run(const Linear& op) {
    const bool fusable = op.activation == Activation::None || op.activation == Activation::Relu;
    const bool bf16 = op.x.dtype == DType::BF16 || (op.x.dtype == DType::F32 && op.compute == Compute::BF16);
    if (!fusable || op.y.elements() == 0 || op.x.elements() == 0 || (bf16 && !products_.has_bf16())) {
        Backend::run(op);
        return;
    }
    Linear product = op;
    if (op.x.dtype == DType::F32 && (op.compute == Compute::BF16 || op.compute == Compute::F16)) {
        const DType rounded = op.compute == Compute::BF16 ? DType::BF16 : DType::F16;
        product.x = converted(op.x, rounded);
        product.weight = converted(op.weight, rounded);
    }
    const FewRowsProduct few_rows{.x = product.x,
                                  .weight = product.weight,
                                  .bias = product.bias,
                                  .y = product.y,
                                  .relu = op.activation == Activation::Relu,
                                  .compute = op.compute};
    if (run_few_rows(Linear::kName, few_rows)) {
        return;
    }
    Linear one = product;
    if (op.rounded_bias.defined()) {
        one.bias = op.rounded_bias;
    }
    const FusedProducts::Plan* plan = fused_products_.plan(fused_shape(one));
    const auto fused = [&] {
        if (copies_bias(one)) {
            one.bias = converted(op.bias, op.y.dtype);
        }
        return fused_products_.multiply(*plan, one);
    };
    // The same bits whether cuBLASLt has no algorithm or rejects the one it chose: with the original bias.
    if (plan == nullptr || !fused()) {
        Backend::run(product);
    }
}

}  // namespace headscope::cuda
