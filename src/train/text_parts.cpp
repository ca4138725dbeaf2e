#include "train/text_parts.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "data/hold_out.h"
#include "data/pair_reader.h"
#include "io/atomic_file.h"
#include "io/made_folder.h"
#include "io/written_record.h"
#include "support/check.h"
#include "text/normalised.h"
#include "train/variety.h"

namespace headscope {
namespace {

constexpr std::int64_t kFewest = 100;        // pairs
constexpr std::int64_t kShare = 100;         // one pair in this many is held out
constexpr std::int64_t kMostHeldOut = 1000;  // enough to compare two losses

// Checks one side of the text: nothing can be learned from sentences without words, or from identical ones.
class Side {
public:
    void add(std::string_view line) {
        ++lines_;
        wordless_ = wordless_ && !has_words(line);
        if (same_ && lines_ > 1) {
            same_ = normalised_text(line) == first_;
        } else if (same_) {
            first_ = normalised_text(line);
        }
    }
    void check(const std::string& file) const {
        if (wordless_) {
            throw Error(fmt::format("'{}' holds no words: all of its {} sentences are only punctuation", file, lines_));
        }
        if (same_) {
            throw Error(
                fmt::format("the {} sentences of '{}' are all the same except for case and punctuation: there is "
                            "nothing to learn; check that the texts belong together",
                            lines_, file));
        }
    }

private:
    std::int64_t lines_ = 0;
    bool wordless_ = true;
    bool same_ = true;
    std::string first_;
};

class PairWriter {
public:
    PairWriter(const std::string& source, const std::string& target) : source_(source), target_(target) {}
    void add(const std::string& source, const std::string& target) {
        source_.write(source + "\n");
        target_.write(target + "\n");
    }
    AtomicFile& source() { return source_; }
    AtomicFile& target() { return target_; }

private:
    AtomicFile source_, target_;
};

void write_parts(PairReader& reader, const HoldOut& held, const WrittenRecord& record, TextParts& parts) {
    PairWriter train(parts.train_source, parts.train_target);
    PairWriter valid(parts.valid_source, parts.valid_target);
    std::string source, target;
    for (std::size_t i = 0; reader.next(source, target); ++i) {
        const Part part = held.part_of(i);
        if (part == Part::Shared) {
            ++parts.shared;
            continue;
        }
        if (part == Part::Valid) {
            valid.add(source, target);
            ++parts.valid;
            continue;
        }
        train.add(source, target);
        ++parts.train;
        parts.unlearnable.learnable(source, reader.name(), reader.line());
        parts.unlearnable.learnable(target, reader.target_name(), reader.line());
    }
    record.commit({&valid.source(), &valid.target(), &train.source(), &train.target()});
}

}  // namespace

TextParts split_texts(const std::string& source, const std::string& target, const std::string& folder,
                      std::uint64_t seed) {
    HoldOut held;
    Variety variety;
    UnlearnableLines unlearnable;
    Side sources;
    Side targets;
    std::int64_t pairs = 0;
    PairReader first(source, target);
    for (std::string a, b; first.next(a, b); ++pairs) {
        held.add(a, b);
        sources.add(a);
        targets.add(b);
        if (unlearnable.learnable(a, first.name(), first.line())) {
            variety.add(a);
        }
        if (unlearnable.learnable(b, first.target_name(), first.line())) {
            variety.add(b);
        }
    }
    if (pairs < kFewest) {
        throw Error(
            fmt::format("'{}' and '{}' hold {} pairs of sentences{}: a training needs at least {}, and many "
                        "thousands to learn to translate",
                        source, target, pairs, empty_sides(first.dropped_empty()), kFewest));
    }
    if (variety.words() == 0) {
        throw Error(fmt::format("'{}' and '{}' hold no sentence that a vocabulary can be learned from: {}", source,
                                target, unlearnable.first()));
    }
    sources.check(source);
    targets.check(target);
    held.choose({.valid = std::min(pairs / kShare, kMostHeldOut), .seed = seed});
    const std::vector<std::string> names{"train.source", "train.target", "valid.source", "valid.target"};
    const WrittenRecord record(folder);
    record.require_own(names);
    MadeFolder(folder).keep();
    const auto in = [&](const std::string& name) { return (std::filesystem::absolute(folder) / name).string(); };
    TextParts parts{in(names[0]), in(names[1]), in(names[2]), in(names[3])};
    parts.empty = first.dropped_empty();
    parts.characters = variety.characters();
    parts.words = variety.words();
    PairReader second(source, target);
    write_parts(second, held, record, parts);
    if (parts.train == 0) {
        throw Error(
            fmt::format("no pair of '{}' and '{}' is left to train on: {} of {} share a side with the {} held out "
                        "(ignoring case and punctuation); use a text whose sentences differ more",
                        source, target, parts.shared, pairs, parts.valid));
    }
    return parts;
}

}  // namespace headscope
