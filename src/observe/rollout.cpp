#include "observe/derived_records.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/family.h"
#include "support/check.h"

namespace headscope {

namespace {

// Row-major.
struct Matrix {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<double> values;

    Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c, 0.0) {}
    double& at(std::size_t row, std::size_t column) { return values[row * columns + column]; }
    double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

Matrix identity(std::size_t size) {
    Matrix matrix(size, size);
    for (std::size_t i = 0; i < size; ++i) {
        matrix.at(i, i) = 1.0;
    }
    return matrix;
}

// The mean attention and the residual path, weighted equally and scaled so that each row adds up to 1, also if heads
// are off.
struct Mixed {
    Matrix attention;              // [queries, keys]
    std::vector<double> residual;  // [queries]
};

Mixed mixed(const SiteWeights& weights) {
    const auto queries = static_cast<std::size_t>(weights.queries);
    const auto keys = static_cast<std::size_t>(weights.keys);
    Mixed result{Matrix(queries, keys), std::vector<double>(queries, 0.0)};
    for (std::size_t query = 0; query < queries; ++query) {
        double sum = 0.0;
        for (std::size_t key = 0; key < keys; ++key) {
            double mean = 0.0;
            for (std::int64_t head = 0; head < weights.heads; ++head) {
                mean += static_cast<double>(
                    weights.at(head, static_cast<std::int64_t>(query), static_cast<std::int64_t>(key)));
            }
            mean /= static_cast<double>(weights.heads);
            result.attention.at(query, key) = mean;
            sum += mean;
        }
        for (std::size_t key = 0; key < keys; ++key) {
            result.attention.at(query, key) /= 1.0 + sum;
        }
        result.residual[query] = 1.0 / (1.0 + sum);
    }
    return result;
}

// into = residual * into + attention * from
Matrix propagate(const Mixed& layer, const Matrix& into, const Matrix& from) {
    Matrix result(into.rows, into.columns);
    for (std::size_t row = 0; row < into.rows; ++row) {
        for (std::size_t column = 0; column < into.columns; ++column) {
            result.at(row, column) = layer.residual[row] * into.at(row, column);
        }
        for (std::size_t key = 0; key < from.rows; ++key) {
            const double weight = layer.attention.at(row, key);
            for (std::size_t column = 0; weight != 0.0 && column < into.columns; ++column) {
                result.at(row, column) += weight * from.at(key, column);
            }
        }
    }
    return result;
}

// Only the residual path carries the matrix through this layer.
Matrix residual_only(const Mixed& layer, const Matrix& matrix) {
    return propagate(layer, matrix, Matrix(0, matrix.columns));
}

SiteWeights site_of(AttentionSite site, const Matrix& matrix) {
    return {site, 1, static_cast<std::int64_t>(matrix.rows), static_cast<std::int64_t>(matrix.columns),
            std::vector<float>(matrix.values.begin(), matrix.values.end())};
}

bool has(const AttentionRecord& record, AttentionKind kind) {
    return std::any_of(record.sites.begin(), record.sites.end(),
                       [kind](const SiteWeights& weights) { return weights.site.kind == kind; });
}

// Error if one of the stacks that the rollout passes through has other layers than attention.
void require_attention(const AttentionRecord& record, bool decodes) {
    const bool translates = traits(record.family).reads_source;
    for (const auto& [kind, needed] : {std::pair(AttentionKind::EncoderSelf, record.encoder_layers > 0),
                                       {AttentionKind::DecoderSelf, decodes && record.decoder_layers > 0},
                                       {AttentionKind::Cross, decodes && translates}}) {
        if (needed && !has(record, kind)) {
            throw Error(fmt::format(
                "attention rollout follows the attention of every layer, but there is no {} attention", name_of(kind)));
        }
    }
}

}  // namespace

AttentionRecord rollout(const AttentionRecord& record) {
    const bool decodes = has(record, AttentionKind::DecoderSelf) || has(record, AttentionKind::Cross);
    require_attention(record, decodes);
    AttentionRecord result = record;
    result.sites.clear();
    result.derived = "attention rollout";
    Matrix source = identity(record.source.size());
    for (int layer = 1; layer <= record.encoder_layers; ++layer) {
        source = propagate(mixed(find_site(record, AttentionKind::EncoderSelf, layer)), source, source);
        result.sites.push_back(site_of({AttentionKind::EncoderSelf, layer - 1}, source));
    }
    if (!decodes) {
        return result;
    }
    Matrix own = identity(record.target_in.size());               // [target, target]
    Matrix other(record.target_in.size(), record.source.size());  // [target, source]
    for (int layer = 1; layer <= record.decoder_layers; ++layer) {
        const Mixed self = mixed(find_site(record, AttentionKind::DecoderSelf, layer));
        if (!traits(record.family).reads_source) {
            own = propagate(self, own, own);
            result.sites.push_back(site_of({AttentionKind::DecoderSelf, layer - 1}, own));
            continue;
        }
        const Mixed cross = mixed(find_site(record, AttentionKind::Cross, layer));
        own = residual_only(cross, propagate(self, own, own));
        other = propagate(cross, propagate(self, other, other), source);
        result.sites.push_back(site_of({AttentionKind::DecoderSelf, layer - 1}, own));
        result.sites.push_back(site_of({AttentionKind::Cross, layer - 1}, other));
    }
    return result;
}

}  // namespace headscope
