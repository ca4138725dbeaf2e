#include "data/batch.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "support/check.h"

namespace headscope {

namespace {

using Texts = std::vector<std::vector<std::int32_t>>;

// Each row filled up with `pad`: [rows, length].
template <class T>
std::vector<T> padded_rows(std::span<const std::vector<T>> rows, std::size_t length, T pad) {
    // Indices are 32-bit on the device.
    HEADSCOPE_CHECK(length == 0 || rows.size() <= std::numeric_limits<std::int32_t>::max() / length,
                    "a batch is too large");
    std::vector<T> padded(rows.size() * length, pad);
    for (std::size_t row = 0; row < rows.size(); ++row) {
        std::copy(rows[row].begin(), rows[row].end(), padded.begin() + static_cast<std::ptrdiff_t>(row * length));
    }
    return padded;
}

// Real positions of ids [rows, length] sorted by id, equal ids in the batch's order; last, as kNoPosition, padding and
// positions without a token.
std::vector<std::int32_t> order_by_id(const std::vector<std::int32_t>& ids, std::span<const std::int32_t> lengths,
                                      std::int64_t length) {
    std::vector<std::int32_t> order;
    order.reserve(ids.size());
    for (std::size_t row = 0; row < lengths.size(); ++row) {
        for (std::int32_t column = 0; column < lengths[row]; ++column) {
            const auto at = static_cast<std::int32_t>(row) * static_cast<std::int32_t>(length) + column;
            if (ids[static_cast<std::size_t>(at)] >= 0) {
                order.push_back(at);
            }
        }
    }
    std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
        return ids[static_cast<std::size_t>(a)] < ids[static_cast<std::size_t>(b)];
    });
    order.resize(ids.size(), kNoPosition);
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

// Projecting to the vocabulary is most of the work of a small model: worth gathering if half of the rows are left out.
Gather gather_labelled(Gather all) {
    constexpr std::int64_t kMostShapes = 16;  // for each shape of a batch
    const std::int64_t positions = std::ssize(all.classes);
    const std::int64_t multiple = padded_length(std::max<std::int64_t>(positions / kMostShapes, 1));
    const std::int64_t padded = padded_length(std::max<std::int64_t>(all.count, 1), multiple);
    if (2 * padded > positions) {
        return all;
    }
    std::vector<std::int32_t> rows;
    std::vector<std::int32_t> classes;
    for (std::int32_t at = 0; at < positions; ++at) {
        if (const std::int32_t label = all.classes[static_cast<std::size_t>(at)]; label != kNoTarget) {
            rows.push_back(at);
            classes.push_back(label);
        }
    }
    return {all, std::move(rows), std::move(classes), padded};
}

Gather last_tokens(const Tokens& source, std::vector<std::int32_t> lengths_to_predict) {
    std::vector<std::int32_t> ends;
    for (std::size_t row = 0; row < source.lengths.size(); ++row) {
        ends.push_back(static_cast<std::int32_t>(row) * static_cast<std::int32_t>(source.length) + source.lengths[row] -
                       1);
    }
    const std::int64_t count = std::ssize(ends);
    return {Gather(), std::move(ends), std::move(lengths_to_predict), count};
}

std::vector<std::int32_t> ordinals_from(std::int32_t first, std::size_t count) {
    std::vector<std::int32_t> ordinals(count);
    std::iota(ordinals.begin(), ordinals.end(), first);
    return ordinals;
}

// Of complete sources.
Tokens source_tokens(std::span<const std::vector<std::int32_t>> sources, std::int32_t pad,
                     const std::optional<PatchGrid>& patches, const Padding& padding) {
    return patches ? Tokens::of_pictures(sources, *patches, padding) : Tokens(sources, pad, padding);
}

// What `of` makes of each pair.
template <class T = std::int32_t, class PairOf, class Of>
std::vector<std::vector<T>> of_each(std::size_t pairs, const PairOf& pair_of, const Of& of) {
    std::vector<std::vector<T>> found;
    found.reserve(pairs);
    for (std::size_t row = 0; row < pairs; ++row) {
        found.push_back(std::invoke(of, pair_of(row)));
    }
    return found;
}

// Batch::predicted's weights, [sentences, length]; none if no pair has any. `before` positions precede the pieces.
template <class PairOf>
std::vector<float> padded_weights(std::size_t sentences, const PairOf& pair_of, std::size_t before,
                                  std::size_t length) {
    bool weighed = false;
    for (std::size_t row = 0; row < sentences; ++row) {
        weighed = weighed || !pair_of(row).weights.empty();
    }
    if (!weighed) {
        return {};
    }
    const auto rows = of_each<float>(sentences, pair_of, [&](const Example& pair) {
        const std::size_t predicted = pair.labels.empty() ? pair.target.size() + 1 : pair.labels.size();
        HEADSCOPE_CHECK(pair.weights.empty() || pair.weights.size() == predicted,
                        "a pair has a weight too few or many");
        std::vector<float> weights(before + predicted, 1.0F);
        std::copy(pair.weights.begin(), pair.weights.end(), weights.begin() + static_cast<std::ptrdiff_t>(before));
        return weights;
    });
    return padded_rows<float>(rows, length, 1.0F);
}

// Gather::numbers. `of_labels`: those of all labels, in order.
std::vector<float> numbers_of_rows(const Gather& predicted, const std::vector<float>& of_labels) {
    const std::size_t scores = of_labels.size() / static_cast<std::size_t>(predicted.count);
    HEADSCOPE_CHECK(scores * static_cast<std::size_t>(predicted.count) == of_labels.size(),
                    "each label has as many numbers");
    std::vector<float> numbers(predicted.classes.size() * scores, 0.0F);
    auto next = of_labels.begin();
    for (std::size_t row = 0; row < predicted.classes.size(); ++row) {
        if (predicted.classes[row] != kNoTarget) {
            std::copy_n(next, scores, numbers.begin() + static_cast<std::ptrdiff_t>(row * scores));
            next += static_cast<std::ptrdiff_t>(scores);
        }
    }
    return numbers;
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
    const bool translated = !labelled || frame.mask >= 0 || !pair_of(0).source.empty();
    HEADSCOPE_CHECK(labelled || frame.mask < 0, "pairs for a model that fills in masks have labels");
    const auto each = [&](const auto& of) { return of_each(sentences, pair_of, of); };
    const auto read = [&](const Example& pair) { return joined(frame.start(), pair.target); };
    const auto written = [&](const Example& pair) {
        std::vector<std::int32_t> out(frame.target_begin.size(), kNoTarget);
        return joined(joined(std::move(out), pair.target), std::span(&frame.eos, 1));
    };
    Batch batch;
    batch.sentences = static_cast<std::int64_t>(sentences);
    batch.target = Tokens(labelled ? each(&Example::target) : each(read), frame.pad, padding);
    batch.target.set_documents(each(&Example::starts));
    if (labelled) {
        batch.target.set_types(typed ? each(&Example::types) : Texts{});
    }
    const auto length = static_cast<std::size_t>(batch.target.length);
    Gather all(padded_rows<std::int32_t>(labelled ? each(&Example::labels) : each(written), length, kNoTarget),
               padded_weights(sentences, pair_of, labelled ? 0 : frame.target_begin.size(), length));
    batch.predicted = labelled ? gather_labelled(std::move(all)) : std::move(all);
    if (labelled && !pair_of(0).numbers.empty()) {
        std::vector<float> of_labels;
        for (std::size_t row = 0; row < sentences; ++row) {
            of_labels.insert(of_labels.end(), pair_of(row).numbers.begin(), pair_of(row).numbers.end());
        }
        batch.predicted.numbers = numbers_of_rows(batch.predicted, of_labels);
    }
    if (translated) {
        batch.source = source_tokens(each([&](const Example& pair) { return source_of_pair(pair, frame); }), frame.pad,
                                     frame.patches, padding);
    }
    if (labelled && translated) {
        batch.source_ends = last_tokens(batch.source, batch.target.lengths);
    }
    if (!frame.cluster_starts.empty()) {
        batch.adaptive = gather_clusters(batch.predicted, frame.cluster_starts);
    }
    batch.ordinals = ordinals_from(first_ordinal, sentences);
    return batch;
}

// Each pair of different ranks; `first` is the row of the example's first text.
void add_pairs(const Example& example, std::int32_t first, Comparisons& comparisons) {
    const std::size_t before = comparisons.better.size();
    const auto texts = static_cast<std::int32_t>(example.ranks.size());
    const auto rank_of = [&](std::int32_t text) { return example.ranks[static_cast<std::size_t>(text)]; };
    for (std::int32_t better = 0; better < texts; ++better) {
        for (std::int32_t worse = 0; worse < texts; ++worse) {
            if (rank_of(better) < rank_of(worse)) {
                comparisons.texts.push_back(first + worse);
                comparisons.texts.push_back(first + better);
                comparisons.better.push_back(1);
            }
        }
    }
    const std::size_t pairs = comparisons.better.size() - before;
    HEADSCOPE_CHECK(pairs > 0, "no two documents of a comparison have different ranks");
    comparisons.weights.resize(comparisons.better.size(), 1.0F / static_cast<float>(pairs));
    comparisons.references.insert(comparisons.references.end(), example.references.begin(), example.references.end());
}

std::vector<std::int32_t> order_of(const std::vector<std::int32_t>& ids) {
    const auto all = static_cast<std::int32_t>(ids.size());
    return order_by_id(ids, std::span(&all, 1), all);
}

template <class PairOf>
Batch build_any(std::size_t examples, PairOf example_of, const Frame& frame, std::int32_t first_ordinal,
                const Padding& padding) {
    if (examples == 0 || example_of(0).ranks.empty()) {
        return build(examples, example_of, frame, first_ordinal, padding);
    }
    Comparisons comparisons{.prompts = static_cast<std::int64_t>(examples)};
    std::vector<Example> texts;
    for (std::size_t i = 0; i < examples; ++i) {
        add_pairs(example_of(i), static_cast<std::int32_t>(texts.size()), comparisons);
        const std::vector<Example> of_example = texts_of(example_of(i));
        texts.insert(texts.end(), of_example.begin(), of_example.end());
    }
    HEADSCOPE_CHECK(comparisons.references.empty() || comparisons.references.size() == texts.size(),
                    "each text of a batch has a reference, or none has");
    Batch batch = build(
        texts.size(), [&](std::size_t row) -> const Example& { return texts[row]; }, frame, first_ordinal, padding);
    comparisons.ends = last_tokens(batch.target);
    comparisons.order = order_of(comparisons.texts);
    comparisons.text_of = texts_of_rows(batch);
    comparisons.text_order = order_of(comparisons.text_of);
    batch.comparisons = std::move(comparisons);
    return batch;
}

}  // namespace

Tokens::Tokens(std::span<const std::vector<std::int32_t>> texts, std::int32_t pad, const Padding& padding) {
    HEADSCOPE_CHECK(!texts.empty(), "a batch has at least one sentence");
    for (const std::vector<std::int32_t>& text : texts) {
        lengths.push_back(static_cast<std::int32_t>(text.size()));
    }
    length = padding.of(*std::max_element(lengths.begin(), lengths.end()));
    count = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
    ids = padded_rows<std::int32_t>(texts, static_cast<std::size_t>(length), pad);
    order = order_by_id(ids, lengths, length);
}

void Tokens::set_types(std::span<const std::vector<std::int32_t>> of_texts) {
    if (of_texts.empty()) {
        types.assign(static_cast<std::size_t>(length), 0);
        const auto whole_row = static_cast<std::int32_t>(length);
        type_order = order_by_id(types, std::span(&whole_row, 1), length);
        return;
    }
    types = padded_rows<std::int32_t>(of_texts, static_cast<std::size_t>(length), 0);
    type_order = order_by_id(types, lengths, length);
}

Tokens Tokens::of_pictures(std::span<const std::vector<std::int32_t>> pictures, const PatchGrid& grid,
                           const Padding& padding) {
    const std::vector<std::int32_t> places(static_cast<std::size_t>(grid.positions()), 0);
    Tokens tokens(Texts(pictures.size(), places), 0, padding);
    const auto row_values = static_cast<std::size_t>(tokens.length * grid.shape.values());
    for (const std::vector<std::int32_t>& picture : pictures) {
        const std::vector<float> vectors = grid.vectors(picture);
        tokens.patches.insert(tokens.patches.end(), vectors.begin(), vectors.end());
        tokens.patches.resize((tokens.patches.size() + row_values - 1) / row_values * row_values, 0.0F);
    }
    tokens.set_types({});
    if (grid.class_token) {
        std::fill(tokens.types.begin() + 1, tokens.types.end(), 1);
    }
    return tokens;
}

void Tokens::set_documents(std::span<const std::vector<std::int32_t>> starts) {
    if (std::none_of(starts.begin(), starts.end(), [](const auto& of_text) { return of_text.size() > 1; })) {
        return;
    }
    const auto row_values = static_cast<std::size_t>(length) * 2;
    ranges.assign(starts.size() * row_values, 0);  // pads attend to nothing
    for (std::size_t row = 0; row < starts.size(); ++row) {
        std::vector<std::int32_t> ends = starts[row].empty() ? std::vector<std::int32_t>{0} : starts[row];
        HEADSCOPE_CHECK(ends.front() == 0 && std::is_sorted(ends.begin(), ends.end()),
                        "the documents are not in order");
        ends.push_back(lengths[row]);
        std::int32_t* to = ranges.data() + row * row_values;
        for (std::size_t document = 0; document + 1 < ends.size(); ++document) {
            for (std::int32_t at = ends[document]; at < ends[document + 1]; ++at) {
                *to++ = ends[document];
                *to++ = ends[document + 1];
            }
        }
    }
}

Gather::Gather(std::vector<std::int32_t> class_of_each, std::vector<float> weight_of_each)
    : count(std::ssize(class_of_each) - std::count(class_of_each.begin(), class_of_each.end(), kNoTarget)),
      classes(std::move(class_of_each)),
      weights(std::move(weight_of_each)) {
    HEADSCOPE_CHECK(weights.empty() || weights.size() == classes.size(), "each row has a weight, or none has");
    for (std::size_t row = 0; row < weights.size(); ++row) {
        weights[row] = classes[row] == kNoTarget ? 0.0F : weights[row];
    }
}

Gather::Gather(const Gather& all, std::vector<std::int32_t> some, std::vector<std::int32_t> class_of_each,
               std::int64_t padded)
    : Gather(std::move(class_of_each)) {
    HEADSCOPE_CHECK(some.size() == classes.size(), "each row has a class");
    if (!all.weights.empty()) {
        weights.assign(static_cast<std::size_t>(padded), 0.0F);
        std::transform(some.begin(), some.end(), weights.begin(),
                       [&](std::int32_t row) { return all.weights[static_cast<std::size_t>(row)]; });
    }
    order.resize(some.size());
    std::iota(order.begin(), order.end(), 0);
    rows = std::move(some);
    rows.resize(static_cast<std::size_t>(padded), 0);
    order.resize(rows.size(), kNoPosition);
    classes.resize(rows.size(), kNoTarget);
}

std::vector<Example> texts_of(const Example& example) {
    if (example.ranks.empty()) {
        return {example};
    }
    HEADSCOPE_CHECK(example.labels.size() == example.target.size() && example.starts.size() == example.ranks.size(),
                    "each document of a comparison has labels and a rank");
    const auto part = [](const std::vector<std::int32_t>& ids, std::int32_t begin, std::int32_t end) {
        return std::vector<std::int32_t>(ids.begin() + begin, ids.begin() + end);
    };
    std::vector<Example> texts;
    for (std::size_t i = 0; i < example.starts.size(); ++i) {
        const std::int32_t begin = example.starts[i];
        const std::int32_t end =
            i + 1 < example.starts.size() ? example.starts[i + 1] : static_cast<std::int32_t>(example.target.size());
        texts.push_back({.target = part(example.target, begin, end), .labels = part(example.labels, begin, end)});
    }
    return texts;
}

std::vector<std::int32_t> texts_of_rows(const Batch& batch) {
    const Gather& predicted = batch.predicted;
    std::vector<std::int32_t> texts(predicted.classes.size(), kNoTarget);
    for (std::size_t row = 0; row < texts.size(); ++row) {
        if (predicted.classes[row] != kNoTarget) {
            const auto at = predicted.rows.empty() ? static_cast<std::int32_t>(row) : predicted.rows[row];
            texts[row] = at / static_cast<std::int32_t>(batch.target.length);
        }
    }
    return texts;
}

Gather last_tokens(const Tokens& texts) {
    return last_tokens(texts, std::vector<std::int32_t>(texts.lengths.size(), kNoTarget));
}

std::vector<Gather> gather_clusters(const Gather& predicted, std::span<const std::int32_t> starts) {
    constexpr std::int64_t kMostShapes = 64;  // of a cluster, for each shape of a batch
    const std::vector<std::int32_t>& classes = predicted.classes;
    std::vector<std::int32_t> in_head;
    Texts rows(starts.size());
    Texts in_cluster(starts.size());
    for (std::size_t row = 0; row < classes.size(); ++row) {
        const std::int32_t target = classes[row];
        const auto after = std::upper_bound(starts.begin(), starts.end(), target) - starts.begin();
        in_head.push_back(after == 0 ? target : starts.front() + static_cast<std::int32_t>(after) - 1);
        if (after > 0) {
            const std::size_t cluster = static_cast<std::size_t>(after) - 1;
            rows[cluster].push_back(static_cast<std::int32_t>(row));
            in_cluster[cluster].push_back(target - starts[cluster]);
        }
    }
    std::vector<Gather> gathers{Gather(std::move(in_head), predicted.weights)};
    const std::int64_t multiple = padded_length(std::max<std::int64_t>(std::ssize(classes) / kMostShapes, 1));
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::int64_t padded = padded_length(std::max<std::int64_t>(std::ssize(rows[i]), 1), multiple);
        gathers.emplace_back(predicted, std::move(rows[i]), std::move(in_cluster[i]), padded);
    }
    return gathers;
}

Batch make_batch(std::span<const Example> pairs, const Frame& frame, std::int32_t first_ordinal,
                 const Padding& padding) {
    return build_any(
        pairs.size(), [&](std::size_t row) -> const Example& { return pairs[row]; }, frame, first_ordinal, padding);
}

Batch make_batch(std::span<const Example* const> pairs, const Frame& frame, std::int32_t first_ordinal,
                 const Padding& padding) {
    return build_any(
        pairs.size(), [&](std::size_t row) -> const Example& { return *pairs[row]; }, frame, first_ordinal, padding);
}

Batch make_source_batch(std::span<const std::vector<std::int32_t>> sources, std::int32_t pad, const Padding& padding,
                        const std::optional<PatchGrid>& patches) {
    Batch batch;
    batch.sentences = static_cast<std::int64_t>(sources.size());
    batch.source = source_tokens(sources, pad, patches, padding);
    batch.source_ends = last_tokens(batch.source);
    batch.ordinals = ordinals_from(0, sources.size());
    return batch;
}

}  // namespace headscope
