#include "observe/principal_axes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "support/check.h"

namespace headscope {

namespace {

// A symmetric matrix whose eigenvectors are found by turning it until only its diagonal is left.
class Rotated {
public:
    // [size, size], by rows.
    Rotated(std::vector<double> matrix, std::size_t size) : size_(size), a_(std::move(matrix)), v_(size * size, 0.0) {
        for (std::size_t i = 0; i < size_; ++i) {
            v_[i * size_ + i] = 1.0;
        }
        constexpr int kMostSweeps = 60;  // about ten are needed
        for (int sweep = 0; sweep < kMostSweeps && !is_diagonal(); ++sweep) {
            for (std::size_t p = 0; p < size_; ++p) {
                for (std::size_t q = p + 1; q < size_; ++q) {
                    rotate(p, q);
                }
            }
        }
    }

    double value(std::size_t i) const { return a_[i * size_ + i]; }
    std::span<const double> vector(std::size_t i) const { return std::span(v_).subspan(i * size_, size_); }

private:
    bool is_diagonal() const {
        double all = 0.0, off = 0.0;
        for (std::size_t i = 0; i < size_; ++i) {
            for (std::size_t j = 0; j < size_; ++j) {
                const double square = a_[i * size_ + j] * a_[i * size_ + j];
                all += square;
                off += i == j ? 0.0 : square;
            }
        }
        constexpr double kNothing = 1e-30;
        return off <= kNothing * all;
    }

    // Makes a[p, q] 0. Golub and Van Loan, Matrix Computations, 8.5.2.
    void rotate(std::size_t p, std::size_t q) {
        const double off = a_[p * size_ + q];
        if (off == 0.0) {
            return;
        }
        const double tau = (a_[q * size_ + q] - a_[p * size_ + p]) / (2.0 * off);
        const double t = (tau >= 0.0 ? 1.0 : -1.0) / (std::abs(tau) + std::hypot(1.0, tau));
        const double c = 1.0 / std::hypot(1.0, t);
        const double s = t * c;
        const auto turn = [&](double& of_p, double& of_q) {
            const double before = of_p;
            of_p = c * before - s * of_q;
            of_q = s * before + c * of_q;
        };
        for (std::size_t i = 0; i < size_; ++i) {
            turn(a_[p * size_ + i], a_[q * size_ + i]);
            turn(v_[p * size_ + i], v_[q * size_ + i]);
        }
        for (std::size_t i = 0; i < size_; ++i) {
            turn(a_[i * size_ + p], a_[i * size_ + q]);
        }
    }

    std::size_t size_;
    std::vector<double> a_, v_;  // the eigenvectors are the rows of v
};

// The vectors less their mean.
std::vector<double> centred(std::span<const float> vectors, std::size_t columns) {
    const std::size_t count = vectors.size() / columns;
    std::vector<double> found(vectors.begin(), vectors.end());
    for (std::size_t column = 0; column < columns; ++column) {
        double sum = 0.0;
        for (std::size_t i = 0; i < count; ++i) {
            sum += found[i * columns + column];
        }
        for (std::size_t i = 0; i < count; ++i) {
            found[i * columns + column] -= sum / static_cast<double>(count);
        }
    }
    return found;
}

}  // namespace

PrincipalPlane principal_plane(std::span<const float> vectors, std::size_t columns) {
    const std::size_t count = columns == 0 ? 0 : vectors.size() / columns;
    HEADSCOPE_CHECK(count <= kMostInPlane && count * columns == vectors.size(), "the vectors fill their rows");
    if (count == 0) {
        return {};
    }
    const std::vector<double> x = centred(vectors, columns);
    const auto row = [&](std::size_t i) { return x.begin() + static_cast<std::ptrdiff_t>(i * columns); };
    std::vector<double> products(count * count);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            products[i * count + j] = products[j * count + i] =
                std::inner_product(row(i), row(i) + static_cast<std::ptrdiff_t>(columns), row(j), 0.0);
        }
    }
    const Rotated rotated(std::move(products), count);
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(), [&](std::size_t i) { return rotated.value(i); });
    double all = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        all += std::max(rotated.value(i), 0.0);
    }

    PrincipalPlane plane{.places = std::vector<std::array<double, 2>>(count)};
    constexpr double kRounding = 1e-12;
    for (std::size_t axis = 0; axis < std::min<std::size_t>(count, 2); ++axis) {
        const double variance = rotated.value(order[axis]);
        if (!(variance > kRounding * rotated.value(order.front()))) {
            break;
        }
        const std::span<const double> u = rotated.vector(order[axis]);
        std::vector<double> direction(columns, 0.0);
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t column = 0; column < columns; ++column) {
                direction[column] += u[i] * x[i * columns + column];
            }
        }
        const double largest = *std::ranges::max_element(direction, {}, [](double value) { return std::abs(value); });
        for (std::size_t i = 0; i < count; ++i) {
            plane.places[i].at(axis) = std::copysign(std::sqrt(variance), largest) * u[i];
        }
        plane.shares.at(axis) = variance / all;
    }
    return plane;
}

}  // namespace headscope
