#include "data/batch.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "support/check.h"

namespace headscope {

namespace {

// Ids [sentences, length] and the number of real ones in each row.
struct Padded {
    std::int64_t length = 0;
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> lengths;
};

// Each row consists of ids and `pad` up to the padded length of the longest row.
template <class IdsOf>
Padded pad_rows(std::size_t rows, IdsOf ids_of, std::int32_t pad, const Padding& padding) {
    std::size_t longest = 0;
    for (std::size_t row = 0; row < rows; ++row) {
        longest = std::max(longest, ids_of(row).size());
    }
    Padded padded;
    padded.length = padding.of(static_cast<std::int64_t>(longest));
    const std::size_t length = static_cast<std::size_t>(padded.length);
    // Indices are 32-bit on the device.
    HEADSCOPE_CHECK(length == 0 || rows <= std::numeric_limits<std::int32_t>::max() / length, "a batch is too large");
    padded.ids.assign(rows * length, pad);
    for (std::size_t row = 0; row < rows; ++row) {
        const std::vector<std::int32_t>& ids = ids_of(row);
        std::copy(ids.begin(), ids.end(), padded.ids.begin() + static_cast<std::ptrdiff_t>(row * length));
        padded.lengths.push_back(static_cast<std::int32_t>(ids.size()));
    }
    return padded;
}

// Real positions sorted by id, equal ids in the batch's order; last, as kNoPosition, padding and positions without a
// token.
std::vector<std::int32_t> order_by_id(const Padded& padded) {
    std::vector<std::int32_t> order;
    order.reserve(padded.ids.size());
    for (std::size_t row = 0; row < padded.lengths.size(); ++row) {
        for (std::int32_t column = 0; column < padded.lengths[row]; ++column) {
            const auto at = static_cast<std::int32_t>(row) * static_cast<std::int32_t>(padded.length) + column;
            if (padded.ids[static_cast<std::size_t>(at)] >= 0) {
                order.push_back(at);
            }
        }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return padded.ids[static_cast<std::size_t>(a)] < padded.ids[static_cast<std::size_t>(b)];
    });
    order.resize(padded.ids.size(), kNoPosition);
    return order;
}

std::vector<std::int32_t> joined(std::vector<std::int32_t> ids, std::span<const std::int32_t> more) {
    ids.insert(ids.end(), more.begin(), more.end());
    return ids;
}

std::vector<std::int32_t> source_of_pair(const Example& pair, const Frame& frame) {
    if (pair.source_begin.empty()) {
        return frame.source(pair.source);
    }
    return joined(joined(pair.source_begin, pair.source), frame.source_end);
}

// One row, for all sentences.
Padded all_of_type_0(std::int64_t length) {
    return {length, std::vector<std::int32_t>(static_cast<std::size_t>(length)), {static_cast<std::int32_t>(length)}};
}

// For each position the positions of its document: begin and end. Pads have none.
template <class PairOf>
std::vector<std::int32_t> document_ranges(std::size_t rows, PairOf pair_of, std::int64_t length) {
    bool several = false;
    for (std::size_t row = 0; row < rows; ++row) {
        several = several || pair_of(row).starts.size() > 1;
    }
    std::vector<std::int32_t> ranges(several ? rows * static_cast<std::size_t>(length) * 2 : 0);
    for (std::size_t row = 0; several && row < rows; ++row) {
        const Example& pair = pair_of(row);
        std::vector<std::int32_t> ends = pair.starts.empty() ? std::vector<std::int32_t>{0} : pair.starts;
        HEADSCOPE_CHECK(ends.front() == 0 && std::is_sorted(ends.begin(), ends.end()),
                        "the documents are not in order");
        ends.push_back(static_cast<std::int32_t>(pair.target.size()));
        std::int32_t* to = ranges.data() + row * static_cast<std::size_t>(length) * 2;
        for (std::size_t document = 0; document + 1 < ends.size(); ++document) {
            for (std::int32_t at = ends[document]; at < ends[document + 1]; ++at) {
                *to++ = ends[document];
                *to++ = ends[document + 1];
            }
        }
    }
    return ranges;
}

// Projecting to the vocabulary is most of the work of a small model: worth gathering if half of the rows are left out.
void gather_predicted(Batch& batch) {
    constexpr std::int64_t kMostShapes = 16;  // for each shape of a batch
    const auto positions = static_cast<std::int64_t>(batch.target_out.size());
    const std::int64_t multiple = padded_length(std::max<std::int64_t>(positions / kMostShapes, 1));
    const std::int64_t rows = padded_length(std::max<std::int64_t>(batch.target_tokens, 1), multiple);
    if (2 * rows > positions) {
        return;
    }
    for (std::int32_t at = 0; at < positions; ++at) {
        if (const std::int32_t target = batch.target_out[static_cast<std::size_t>(at)]; target != kNoTarget) {
            batch.predicted_order.push_back(static_cast<std::int32_t>(batch.predicted.size()));
            batch.predicted.push_back(at);
            batch.predicted_out.push_back(target);
        }
    }
    batch.predicted.resize(static_cast<std::size_t>(rows), 0);
    batch.predicted_out.resize(static_cast<std::size_t>(rows), kNoTarget);
    batch.predicted_order.resize(static_cast<std::size_t>(rows), kNoPosition);
}

void set_source(Batch& batch, Padded source) {
    batch.source_length = source.length;
    batch.source_order = order_by_id(source);
    batch.source_tokens = std::accumulate(source.lengths.begin(), source.lengths.end(), std::int64_t{0});
    batch.source = std::move(source.ids);
    batch.source_lengths = std::move(source.lengths);
}

void set_source_ends(Batch& batch) {
    for (std::int32_t row = 0; row < batch.sentences; ++row) {
        batch.source_ends.push_back(row * static_cast<std::int32_t>(batch.source_length) +
                                    batch.source_lengths[static_cast<std::size_t>(row)] - 1);
        batch.source_ends_order.push_back(row);
    }
}

template <class PairOf>
Batch build(std::size_t sentences, PairOf pair_of, const Frame& frame, std::int32_t first_ordinal,
            const Padding& padding) {
    HEADSCOPE_CHECK(sentences > 0, "a batch has at least one sentence");
    const bool labelled = !pair_of(0).labels.empty();
    const bool typed = labelled && !pair_of(0).types.empty();
    for (std::size_t row = 0; row < sentences; ++row) {
        const Example& pair = pair_of(row);
        HEADSCOPE_CHECK(pair.labels.size() == (labelled ? pair.target.size() : 0),
                        "a pair has a label too few or many");
        HEADSCOPE_CHECK(pair.types.size() == (typed ? pair.target.size() : 0), "a pair has a type too few or many");
    }
    const auto source_of = [&](std::size_t row) { return source_of_pair(pair_of(row), frame); };
    const auto target_in_of = [&](std::size_t row) { return joined(frame.start(), pair_of(row).target); };
    const auto target_out_of = [&](std::size_t row) {
        std::vector<std::int32_t> out(frame.target_begin.size(), kNoTarget);
        return joined(joined(std::move(out), pair_of(row).target), std::span(&frame.eos, 1));
    };
    const auto target_of = [&](std::size_t row) -> const std::vector<std::int32_t>& { return pair_of(row).target; };
    const auto types_of = [&](std::size_t row) -> const std::vector<std::int32_t>& { return pair_of(row).types; };
    const auto labels_of = [&](std::size_t row) -> const std::vector<std::int32_t>& { return pair_of(row).labels; };
    const bool translated = !labelled || frame.mask >= 0;
    HEADSCOPE_CHECK(labelled || frame.mask < 0, "pairs for a model that fills in masks have labels");
    Padded target_in = labelled ? pad_rows(sentences, target_of, frame.pad, padding)
                                : pad_rows(sentences, target_in_of, frame.pad, padding);
    Padded target_out = labelled ? pad_rows(sentences, labels_of, kNoTarget, padding)
                                 : pad_rows(sentences, target_out_of, kNoTarget, padding);
    Batch batch;
    batch.target_ranges = document_ranges(sentences, pair_of, target_in.length);
    batch.sentences = static_cast<std::int64_t>(sentences);
    batch.target_length = target_in.length;
    if (translated) {
        set_source(batch, pad_rows(sentences, source_of, frame.pad, padding));
    }
    batch.target_order = order_by_id(target_in);
    batch.target_tokens = std::count_if(target_out.ids.begin(), target_out.ids.end(),
                                        [](std::int32_t target) { return target != kNoTarget; });
    batch.target_in = std::move(target_in.ids);
    batch.target_out = std::move(target_out.ids);
    batch.target_lengths = std::move(target_in.lengths);
    batch.ordinals.resize(sentences);
    std::iota(batch.ordinals.begin(), batch.ordinals.end(), first_ordinal);
    if (labelled && translated) {
        set_source_ends(batch);
    }
    if (labelled) {
        Padded types = typed ? pad_rows(sentences, types_of, 0, padding) : all_of_type_0(batch.target_length);
        batch.target_type_order = order_by_id(types);
        batch.target_types = std::move(types.ids);
        gather_predicted(batch);
    }
    if (!frame.cluster_starts.empty()) {
        gather_clusters(batch, frame.cluster_starts);
    }
    return batch;
}

}  // namespace

void gather_clusters(Batch& batch, std::span<const std::int32_t> starts) {
    constexpr std::int64_t kMostShapes = 64;  // of a cluster, for each shape of a batch
    const std::vector<std::int32_t>& targets = batch.predicted.empty() ? batch.target_out : batch.predicted_out;
    batch.clusters.resize(starts.size());
    for (std::size_t row = 0; row < targets.size(); ++row) {
        const std::int32_t target = targets[row];
        const auto after = std::upper_bound(starts.begin(), starts.end(), target) - starts.begin();
        batch.head_out.push_back(after == 0 ? target : starts.front() + static_cast<std::int32_t>(after) - 1);
        if (after > 0) {
            Batch::Cluster& cluster = batch.clusters[static_cast<std::size_t>(after) - 1];
            cluster.order.push_back(static_cast<std::int32_t>(cluster.rows.size()));
            cluster.rows.push_back(static_cast<std::int32_t>(row));
            cluster.out.push_back(target - starts[static_cast<std::size_t>(after) - 1]);
        }
    }
    const std::int64_t multiple = padded_length(std::max<std::int64_t>(std::ssize(targets) / kMostShapes, 1));
    for (Batch::Cluster& cluster : batch.clusters) {
        const auto rows =
            static_cast<std::size_t>(padded_length(std::max<std::int64_t>(std::ssize(cluster.rows), 1), multiple));
        cluster.rows.resize(rows, 0);
        cluster.out.resize(rows, kNoTarget);
        cluster.order.resize(rows, kNoPosition);
    }
}

Batch make_batch(std::span<const Example> pairs, const Frame& frame, std::int32_t first_ordinal,
                 const Padding& padding) {
    return build(
        pairs.size(), [&](std::size_t row) -> const Example& { return pairs[row]; }, frame, first_ordinal, padding);
}

Batch make_batch(std::span<const Example* const> pairs, const Frame& frame, std::int32_t first_ordinal,
                 const Padding& padding) {
    return build(
        pairs.size(), [&](std::size_t row) -> const Example& { return *pairs[row]; }, frame, first_ordinal, padding);
}

Batch make_source_batch(std::span<const std::vector<std::int32_t>> sources, std::int32_t pad, const Padding& padding) {
    HEADSCOPE_CHECK(!sources.empty(), "a batch has at least one sentence");
    const auto source_of = [&](std::size_t row) -> const std::vector<std::int32_t>& { return sources[row]; };
    Batch batch;
    batch.sentences = static_cast<std::int64_t>(sources.size());
    set_source(batch, pad_rows(sources.size(), source_of, pad, padding));
    set_source_ends(batch);
    batch.ordinals.resize(sources.size());
    std::iota(batch.ordinals.begin(), batch.ordinals.end(), 0);
    return batch;
}

}  // namespace headscope
