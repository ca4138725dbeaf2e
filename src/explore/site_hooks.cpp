#include "explore/site_hooks.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "model/sites.h"
#include "support/check.h"

namespace headscope {

namespace {

// Copies rows of `columns` values between an array with padding and one without: the first `positions` of each matrix
// of `padded` positions, and of each of their rows the first `columns` of `padded_columns`.
struct Window {
    std::int64_t matrices, positions, columns, padded_positions, padded_columns;

    template <class Copy>
    void each_row(const Copy& copy) const {
        for (std::int64_t matrix = 0; matrix < matrices; ++matrix) {
            for (std::int64_t position = 0; position < positions; ++position) {
                copy((matrix * padded_positions + position) * padded_columns,
                     (matrix * positions + position) * columns);
            }
        }
    }
};

Window window_of(const Shape& shape, const Shape& padded) {
    const std::int64_t columns = shape[-1];
    const std::int64_t positions = shape[-2];
    return {.matrices = shape.elements() / (positions * columns),
            .positions = positions,
            .columns = columns,
            .padded_positions = padded[-2],
            .padded_columns = padded[-1]};
}

void apply(const SitePatch& patch, SiteValues& to) {
    const bool one_head = patch.head > 0;
    const Shape& by = patch.by.shape;
    const std::int64_t heads = to.shape.rank() == 3 ? to.shape[0] : 0;
    Shape expected = to.shape;
    if (one_head && heads > 0) {
        expected = {to.shape[1], to.shape[2]};
    }
    if (by.rank() == expected.rank()) {
        expected.set(-2, by[-2]);
    }
    const bool fits = patch.first >= 0 && by == expected && by.rank() >= 2 && by[-2] <= to.shape[-2] &&
                      patch.first <= to.shape[-2] - by[-2];
    if (!fits || patch.head < 0 || patch.head > heads ||
        static_cast<std::int64_t>(patch.by.values.size()) != by.elements()) {
        throw Error(fmt::format(
            "a patch of {} from position {} on{} has the shape {} and {} values, but the site has the shape {}: "
            "expected "
            "the same columns, and no more positions{}",
            to.site, patch.first, one_head ? fmt::format(", of head {}", patch.head) : "", by.to_string(),
            patch.by.values.size(), to.shape.to_string(), heads > 0 ? ", of all heads or of one" : ", without a head"));
    }
    const std::int64_t columns = to.shape[-1];
    const std::int64_t positions = by[-2];
    const std::int64_t matrices = by.elements() / std::max<std::int64_t>(positions * columns, 1);
    for (std::int64_t matrix = 0; matrix < matrices; ++matrix) {
        const std::int64_t target = one_head ? patch.head - 1 : matrix;
        std::copy_n(patch.by.values.begin() + matrix * positions * columns, positions * columns,
                    to.values.begin() + (target * to.shape[-2] + patch.first) * columns);
    }
}

}  // namespace

SiteHooks::SiteHooks(const ModelConfig& config, const HookedRequest& request, std::int64_t source, std::int64_t target)
    : source_(source), target_(target) {
    for (const std::string& pattern : request.record) {
        for (const std::string& site : matching_sites(config, pattern)) {
            sites_[site].record = true;
        }
    }
    for (const SitePatch& patch : request.patches) {
        for (const std::string& site : matching_sites(config, patch.by.site)) {
            sites_[site].patches.push_back(&patch);
        }
    }
    for (const SiteFunction& function : request.functions) {
        for (const std::string& site : matching_sites(config, function.pattern)) {
            sites_[site].functions.push_back(&function);
        }
    }
}

bool counts_source_tokens(const std::string& site) {
    const bool of_memory =
        site.find(".cross_attention.") != std::string::npos && (site.ends_with(".k") || site.ends_with(".v"));
    return site.starts_with("encoder.") || of_memory;
}

// Without the batch and the padding. Positions are the last dimension but one, except that weights have keys, too.
Shape SiteHooks::shape_at(const std::string& site, const Shape& padded) const {
    const bool of_source = site.starts_with("encoder.") || site.find(".cross_attention.") != std::string::npos;
    std::vector<std::int64_t> dims;
    for (int i = 1; i < padded.rank(); ++i) {
        dims.push_back(padded[i]);
    }
    dims[dims.size() - 2] = counts_source_tokens(site) ? source_ : target_;
    if (site.ends_with(".weights")) {
        dims.back() = of_source ? source_ : target_;
    }
    return dims.size() == 2 ? Shape{dims[0], dims[1]} : Shape{dims[0], dims[1], dims[2]};
}

Tensor SiteHooks::reach(Backend& backend, const std::string& site, const Tensor& value) {
    const Actions& actions = sites_.at(site);
    std::vector<float> all = to_host<float>(backend, value);
    SiteValues values{site, shape_at(site, value.shape), {}};
    const Window window = window_of(values.shape, value.shape);
    values.values.resize(static_cast<std::size_t>(values.shape.elements()));
    window.each_row([&](std::int64_t padded, std::int64_t own) {
        std::copy_n(all.begin() + padded, window.columns, values.values.begin() + own);
    });
    for (const SitePatch* patch : actions.patches) {
        apply(*patch, values);
    }
    for (const SiteFunction* function : actions.functions) {
        const Shape before = values.shape;
        function->change(values);
        HEADSCOPE_CHECK(values.shape == before && std::ssize(values.values) == before.elements(),
                        "a function at " + site + " may change values, not their shape");
    }
    Tensor after = value;
    if (!actions.patches.empty() || !actions.functions.empty()) {
        window.each_row([&](std::int64_t padded, std::int64_t own) {
            std::copy_n(values.values.begin() + own, window.columns, all.begin() + padded);
        });
        after = make_from_host(backend, value.shape, value.dtype, all);
    }
    if (actions.record) {
        recorded_.push_back(std::move(values));
    }
    return after;
}

}  // namespace headscope
