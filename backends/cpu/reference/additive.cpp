#include <cmath>

#include "backend/ops/additive.h"
#include "backends/cpu/reference/reference.h"
#include "backends/cpu/reference/write.h"

namespace headscope {

template <class Real>
void CpuReference<Real>::run(const AdditiveScores& op) {
    const View4<Real> q(op.q);
    const View4<Real> k(op.k);
    const View4<Real> scores(op.scores);
    const Real* gain = data_of<Real>(op.gain);
    for_each_index(scores, [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
        Real sum = 0;
        for (std::int64_t d = 0; d < q.size[3]; ++d) {
            sum += gain[h * q.size[3] + d] * std::tanh(q.at(b, h, i, d) + k.at(b, h, j, d));
        }
        scores.at(b, h, i, j) = sum;
    });
}

template <class Real>
void CpuReference<Real>::run(const AdditiveScoresBackward& op) {
    const View4<Real> x(op.x);
    const View4<Real> others(op.others);
    const View4<Real> grad_scores(op.grad_scores);
    const View4<Real> grad_x(op.grad_x);
    const Real* gain = data_of<Real>(op.gain);
    Real* products = data_of<Real>(op.products);
    for_each_index(grad_x, [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t d) {
        Real sum = 0;
        Real product = 0;
        for (std::int64_t j = 0; j < others.size[2]; ++j) {
            const Real grad = op.of_keys ? grad_scores.at(b, h, j, i) : grad_scores.at(b, h, i, j);
            const Real squashed = std::tanh(x.at(b, h, i, d) + others.at(b, h, j, d));
            sum += grad * (1 - squashed * squashed);
            product += grad * squashed;
        }
        store(grad_x.at(b, h, i, d), gain[h * x.size[3] + d] * sum, op.write);
        if (products != nullptr) {
            products[((b * x.size[2] + i) * x.size[1] + h) * x.size[3] + d] = product;
        }
    });
}

#define HEADSCOPE_INSTANTIATE(Real)                               \
    template void CpuReference<Real>::run(const AdditiveScores&); \
    template void CpuReference<Real>::run(const AdditiveScoresBackward&);
HEADSCOPE_INSTANTIATE(float)
HEADSCOPE_INSTANTIATE(double)
#undef HEADSCOPE_INSTANTIATE

}  // namespace headscope
