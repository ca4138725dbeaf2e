#include "data/text_source.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "support/check.h"

namespace headscope {
namespace {

constexpr std::uint64_t kOrder = 0x4f726465;
constexpr std::uint64_t kSpans = 0x5370616e;

std::int64_t share_of(double share, std::int64_t count) {
    return static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count)));
}

}  // namespace

TextSource::TextSource(DocumentStore documents, std::vector<WeightedDocuments> corpora, TextVocabulary vocabulary,
                       const TextOptions& options, std::uint64_t seed)
    : documents_(std::move(documents)),
      corpora_(std::move(corpora)),
      vocabulary_(std::move(vocabulary)),
      options_(options),
      seed_(seed) {
    HEADSCOPE_CHECK(!traits(options.task).reads_pairs && options.longest >= 4, "no options of a text");
    const std::size_t all =
        std::accumulate(corpora_.begin(), corpora_.end(), std::size_t{0},
                        [](std::size_t sum, const WeightedDocuments& corpus) { return sum + corpus.documents; });
    HEADSCOPE_CHECK(all == documents_.documents(), "the corpora do not hold all documents");
    if (all == 0) {
        throw Error("there are no documents to train on: check the training files");
    }
    if (traits(options.task).masks_pieces && (vocabulary_.mask < 0 || vocabulary_.normal.empty())) {
        throw Error("the vocabulary has no <mask>, which the task \"masked\" needs");
    }
    const std::size_t spans = spans_of(static_cast<std::size_t>(options.longest) - 1);
    if (traits(options.task).masks_spans && vocabulary_.sentinels.size() < spans) {
        throw Error("the vocabulary has " + std::to_string(vocabulary_.sentinels.size()) +
                    " sentinels (<extra_id_0> ...), but spans of this length need " + std::to_string(spans) +
                    ": lower the maximum length");
    }
}

// Whether bos stands before the part.
bool TextSource::begins(std::uint32_t part) const {
    return !task().masks_spans && options_.frame.bos >= 0 && documents_.begins(part);
}

// Of the part's pieces and special ids: a causal model predicts eos, but never reads it.
std::int64_t TextSource::positions(std::uint32_t part) const {
    const std::int64_t bos = begins(part) ? 1 : 0;
    const std::int64_t eos = task().masks_pieces && documents_.ends(part) ? 1 : 0;
    return bos + documents_.length(part) + eos;
}

Epoch TextSource::epoch(std::int64_t number) const {
    HEADSCOPE_CHECK(number >= 0, "epochs count from 0");
    std::vector<std::uint32_t> order;
    std::size_t first = 0;
    for (std::size_t corpus = 0; corpus < corpora_.size(); ++corpus) {
        const auto [size, weight] = corpora_[corpus];
        for (const Pass& pass : passes_over(size, weight, seed_, number, corpus)) {
            std::transform(pass.items.begin(), pass.items.end(), std::back_inserter(order),
                           [&](std::uint32_t item) { return static_cast<std::uint32_t>(first + item); });
        }
        first += size;
    }
    if (order.empty()) {  // the weights were so small that no document was sampled
        order.resize(documents_.documents());
        std::iota(order.begin(), order.end(), std::uint32_t{0});
    }
    Random(seed_, stream_of(number, kOrder, 0)).shuffle(order);
    Epoch epoch;
    epoch.number = number;
    const bool packed = options_.packed && !task().masks_spans;
    for (const std::uint32_t document : order) {
        const std::size_t begin = epoch.items.size();
        for (std::uint32_t part = documents_.first_part(document); part < documents_.first_part(document + 1); ++part) {
            epoch.items.push_back(part);
        }
        if (!packed) {
            cut(epoch, begin, epoch.items.size());
        }
    }
    if (packed) {
        cut(epoch, 0, epoch.items.size());
    }
    epoch.starts.push_back(static_cast<std::uint32_t>(epoch.items.size()));
    epoch.offsets.push_back(0);
    return epoch;
}

// Cuts these items into as few blocks as possible, all of the same length but for one position.
void TextSource::cut(Epoch& epoch, std::size_t first, std::size_t last) const {
    const std::int64_t longest = options_.longest - (task().masks_spans ? 1 : 0);  // eos
    std::int64_t total = 0;
    for (std::size_t item = first; item < last; ++item) {
        total += positions(epoch.items[item]);
    }
    const std::int64_t blocks = (total + longest - 1) / longest;
    const auto begin_of = [&](std::int64_t block) {
        return block * (total / blocks) + std::min(block, total % blocks);
    };
    std::int64_t block = 0;
    std::int64_t before = 0;
    for (std::size_t item = first; item < last; ++item) {
        const std::int64_t after = before + positions(epoch.items[item]);
        for (; block < blocks && begin_of(block) < after; ++block) {
            epoch.starts.push_back(static_cast<std::uint32_t>(item));
            epoch.offsets.push_back(static_cast<std::uint32_t>(begin_of(block) - before));
        }
        before = after;
    }
}

std::vector<std::int32_t> TextSource::with_special_ids(std::uint32_t part) const {
    std::vector<std::int32_t> ids = documents_.part(part);
    if (begins(part)) {
        ids.insert(ids.begin(), options_.frame.bos);
    }
    if (!task().masks_spans && documents_.ends(part)) {
        ids.push_back(options_.frame.eos);
    }
    return ids;
}

// The ids of a block, each labelled with the next one.
Example TextSource::block(const Epoch& epoch, std::uint32_t number) const {
    Example block;
    const std::uint32_t last_item = epoch.starts.at(number + 1);
    std::size_t at = epoch.offsets[number];
    const std::uint32_t last_end = epoch.offsets[number + 1];
    for (std::uint32_t item = epoch.starts[number]; item < last_item || (item == last_item && at < last_end);
         ++item, at = 0) {
        const std::uint32_t part = epoch.items[item];
        const std::vector<std::int32_t> ids = with_special_ids(part);
        const auto end = static_cast<std::size_t>(item == last_item ? last_end : positions(part));
        if (block.target.empty() || (at == 0 && documents_.begins(part))) {
            block.starts.push_back(static_cast<std::int32_t>(block.target.size()));
        }
        for (; at < end; ++at) {
            block.target.push_back(ids[at]);
            if (task().predicts_next) {
                block.labels.push_back(at + 1 < ids.size() ? ids[at + 1] : documents_.part(part + 1)[0]);
            }
        }
    }
    return block;
}

Example TextSource::example(const Epoch& epoch, std::uint32_t number) const {
    Example example = block(epoch, number);
    if (task().masks_pieces) {
        mask_pieces(example, vocabulary_, options_.whole_words, {seed_, epoch.number, number});
    }
    if (task().masks_spans) {
        return corrupt_spans(example.target, vocabulary_, Random(seed_, stream_of(epoch.number, kSpans, number)));
    }
    return example;
}

SideCounts TextSource::tokens(const Epoch& epoch) const {
    const std::int64_t positions_of_all =
        std::accumulate(epoch.items.begin(), epoch.items.end(), std::int64_t{0},
                        [&](std::int64_t sum, std::uint32_t part) { return sum + positions(part); });
    if (!task().masks_spans) {
        return {0, positions_of_all};
    }
    const auto eos = static_cast<std::int64_t>(epoch.examples());
    const double sentinels = kCorruptedShare / kMeanSpan;
    return {share_of(1.0 - kCorruptedShare + sentinels, positions_of_all) + eos,
            share_of(kCorruptedShare + sentinels, positions_of_all) + eos};
}

SideCounts TextSource::longest() const {
    return {task().has_source ? options_.longest : 0, options_.longest};
}

std::int64_t TextSource::predicted_tokens() const {
    const auto documents = static_cast<std::int64_t>(documents_.documents());
    if (task().masks_pieces) {
        return share_of(kCorruptedShare, documents_.pieces());
    }
    const double share = task().masks_spans ? kCorruptedShare * (1.0 + 1.0 / kMeanSpan) : 1.0;
    return share_of(share, documents_.pieces()) + documents;
}

}  // namespace headscope
