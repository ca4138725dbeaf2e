// An observer that keeps attention weights on the device until one download fetches all of them.
#pragma once

#include <cstdint>
#include <vector>

#include "autograd/context.h"

namespace headscope {

class WeightCollector final : public AttentionObserver {
public:
    // The sites to record; empty: all.
    explicit WeightCollector(std::vector<AttentionSite> sites = {});

    bool wants(const AttentionSite& site) const override;
    Tensor observe(Backend& backend, const AttentionView& view) override;

    struct Observation {
        AttentionSite site;
        Shape shape;                // [batch, heads, queries, keys]
        std::vector<float> values;  // of `shape`, row-major
    };
    // The weights observed since the last fetch, in order: packed on the device, then downloaded at once.
    std::vector<Observation> fetch(Backend& backend);

private:
    struct Seen {
        AttentionSite site;
        Tensor weights;
    };
    std::vector<AttentionSite> sites_;
    std::vector<Seen> seen_;
};

}  // namespace headscope
