// A small random model to explore, and invariants of its results.
#pragma once

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "explore/explorer.h"
#include "registry/registry.h"
#include "tests/house/open_options.h"
#include "tests/infer/tiny_model.h"

namespace headscope {

struct TinyExplorer {
    std::unique_ptr<Backend> backend;
    LoadedModel translator;
    Explorer explorer;

    explicit TinyExplorer(const std::string& device = "cpu", const ModelConfig& config = tiny_config())
        : backend(open_device(device, environment_options())),
          translator(tiny_translator(*backend, config)),
          explorer(*backend, translator, Compute::F32) {}
};

// The source's length differs from all translations below.
inline ExploreRequest tiny_request(int beam = 4) {
    return {.source = "the small dog sees the big cat", .search = {.beam = beam, .max_extra = 6}};
}

// exp of the score of a query and a key: its unnormalised weight.
inline double exponential_of(const NeuronView& view, std::int64_t query, std::int64_t key) {
    double product = 0.0;
    for (std::int64_t i = 0; i < view.d_k; ++i) {
        product += static_cast<double>(view.q[static_cast<std::size_t>(query * view.d_k + i)]) *
                   static_cast<double>(view.k[static_cast<std::size_t>(key * view.d_k + i)]);
    }
    double score = product * static_cast<double>(view.scale);
    if (!view.by_distance.empty()) {
        const auto farthest = std::ssize(view.by_distance) / 2;
        const auto row = std::clamp<std::int64_t>(key - query, -farthest, farthest) + farthest;
        score += static_cast<double>(view.by_distance[static_cast<std::size_t>(row)]);
    }
    return std::exp(score);
}

inline void check_rows(const AttentionRecord& record) {
    for (const SiteWeights& site : record.sites) {
        INFO(name_of(site.site.kind) << " layer " << site.site.layer + 1);
        REQUIRE(site.queries == static_cast<std::int64_t>(query_tokens(record, site.site.kind).size()));
        REQUIRE(site.keys == static_cast<std::int64_t>(key_tokens(record, site.site.kind).size()));
        for (std::int64_t head = 0; head < site.heads; ++head) {
            for (std::int64_t query = 0; query < site.queries; ++query) {
                double sum = 0.0;
                for (std::int64_t key = 0; key < site.keys; ++key) {
                    const float weight = site.at(head, query, key);
                    sum += static_cast<double>(weight);
                    const bool pad = site.site.kind != AttentionKind::DecoderSelf &&
                                     record.source[static_cast<std::size_t>(key)].kind == TokenKind::Pad;
                    const bool later = site.site.kind == AttentionKind::DecoderSelf && key > query;
                    if (pad || later) {
                        CHECK(weight == 0.0F);
                    }
                }
                CHECK(sum == Approx(1.0).margin(1e-5));
            }
        }
    }
}

inline double worst_difference(const AttentionRecord& a, const AttentionRecord& b) {
    double worst = 0.0;
    REQUIRE(a.sites.size() == b.sites.size());
    for (const SiteWeights& one : a.sites) {
        const SiteWeights& other = find_site(b, one.site.kind, one.site.layer + 1);
        REQUIRE(one.values.size() == other.values.size());
        for (std::size_t i = 0; i < one.values.size(); ++i) {
            worst =
                std::max(worst, std::abs(static_cast<double>(one.values[i]) - static_cast<double>(other.values[i])));
        }
    }
    return worst;
}

// Checks that tokens, weights and probabilities are equal.
inline void check_same(const Exploration& a, const Exploration& b) {
    CHECK(a.record.source == b.record.source);
    CHECK(a.record.target_in == b.record.target_in);
    CHECK(a.record.target_out == b.record.target_out);
    CHECK(worst_difference(a.record, b.record) < 1e-5);
    REQUIRE(a.steps.size() == b.steps.size());
    for (std::size_t i = 0; i < a.steps.size(); ++i) {
        CHECK(a.steps[i].token == b.steps[i].token);
        CHECK(a.steps[i].rank == b.steps[i].rank);
        CHECK(a.steps[i].log_probability == Approx(b.steps[i].log_probability).margin(2e-5));
    }
    CHECK(a.log_probability == Approx(b.log_probability).margin(1e-4));
    CHECK(a.end == b.end);
}

}  // namespace headscope
