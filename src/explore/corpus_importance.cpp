#include "explore/corpus_importance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "eval/bleu.h"
#include "explore/editing_observer.h"
#include "explore/importance.h"
#include "infer/scored_pair.h"
#include "model/family.h"
#include "observe/family_labels.h"
#include "support/check.h"
#include "support/random.h"

namespace headscope {

namespace {

constexpr std::size_t kLeastPairs = 4;

std::vector<AttentionEdit> edits_of(const AttentionSite& site, std::int64_t heads, EditKind kind) {
    std::vector<AttentionEdit> edits;
    for (int head = 1; head <= static_cast<int>(heads); ++head) {
        edits.push_back({.site = site, .head = head, .kind = kind});
    }
    return edits;
}

class CorpusAblation {
public:
    CorpusAblation(Backend& backend, const LoadedModel& translator, const CorpusText& text,
                   const CorpusImportanceOptions& options, const CorpusProgress& progress)
        : backend_(backend),
          translator_(translator),
          options_(options),
          progress_(progress),
          sites_(attention_sites(translator.model().config)),
          config_(translator.model().config) {
        split(text);
        const auto heads = static_cast<std::size_t>(count_heads(config_, sites_));
        points_ = std::min(static_cast<std::size_t>(options.points), heads);
        total_ = 2 + heads + 2 * sites_.size() + points_ * (1 + static_cast<std::size_t>(options.orders));
    }

    CorpusImportance measure() {
        found_.choosing_whole.nll = nll(choosing_, {});
        found_.whole = score({});
        for (const AttentionSite& site : sites_) {
            for (AttentionEdit& edit : edits_of(site, heads_of(config_, site.kind), EditKind::Off)) {
                found_.heads.push_back({site, edit.head, {.nll = nll(choosing_, {edit})}});
                if (options_.bleu > 0) {
                    found_.heads.back().score.bleu = bleu({edit});
                }
            }
        }
        for (const AttentionSite& site : sites_) {
            found_.layers_off.push_back({site, 0, score(edits_of(site, heads_of(config_, site.kind), EditKind::Off))});
            found_.layers_uniform.push_back(
                {site, 0, score(edits_of(site, heads_of(config_, site.kind), EditKind::Uniform))});
        }
        prune();
        return std::move(found_);
    }

private:
    void split(const CorpusText& text) {
        Context ctx{.backend = backend_, .compute = options_.translation.compute};
        const std::vector<ScoredPair> scored = score(ctx, text);
        std::size_t usable = 0;
        for (std::size_t i = 0; i < scored.size(); ++i) {
            if (!scored[i].problem.empty() || scored[i].empty) {
                ++found_.left_out;
                continue;
            }
            CorpusText& half = usable++ % 2 == 0 ? choosing_ : measuring_;
            half.sources.push_back(text.sources[i]);
            half.targets.push_back(text.targets[i]);
        }
        if (usable < kLeastPairs) {
            throw Error(
                fmt::format("expected at least {} pairs that the model can score, found {}", kLeastPairs, usable));
        }
        found_.family = translator_.model().config.architecture;
        if (options_.bleu > 0 && !traits(found_.family).reads_source) {
            throw Error(
                fmt::format("BLEU needs a model that translates, but this one is a {}", name_of(found_.family)));
        }
        found_.choosing = std::ssize(choosing_.sources);
        found_.measuring = std::ssize(measuring_.sources);
        found_.translated = std::min(options_.bleu, measuring_.sources.size());
    }

    std::vector<ScoredPair> score(Context& ctx, const CorpusText& text) const {
        ScoreSession session(ctx, translator_, text.sources, text.targets, options_.translation.batch_tokens,
                             options_.translation.search.languages);
        do {
            if (options_.each_batch) {
                options_.each_batch();
            }
        } while (session.step());
        return session.take();
    }

    void step() {
        if (progress_) {
            progress_(++done_, total_);
        }
    }

    double nll(const CorpusText& text, const std::vector<AttentionEdit>& edits) {
        EditingObserver observer(edits, 0, nullptr);  // the length matters to pinned heads only
        Context ctx{.backend = backend_, .observer = &observer, .compute = options_.translation.compute};
        double sum = 0.0;
        double tokens = 0.0;
        for (const ScoredPair& pair : score(ctx, text)) {
            sum -= pair.log_probability;
            tokens += static_cast<double>(pair.target_ids.size());
        }
        if (!std::isfinite(sum)) {
            throw Error("the probability of a target is NaN or infinite: the model's weights are damaged");
        }
        step();
        return sum / tokens;
    }

    double bleu(const std::vector<AttentionEdit>& edits) const {
        EditingObserver observer(edits, 0, nullptr);
        DecodingOptions translation = options_.translation;
        translation.observer = &observer;
        const auto count = static_cast<std::ptrdiff_t>(found_.translated);
        const std::vector<std::string> sources(measuring_.sources.begin(), measuring_.sources.begin() + count);
        const std::vector<std::string> references(measuring_.targets.begin(), measuring_.targets.begin() + count);
        std::vector<std::string> translations;
        for (TextResult& sentence : translator_.translate(numbered(sources), translation, options_.each_batch)) {
            translations.push_back(std::move(sentence.text));
        }
        return corpus_bleu(translations, references).score;
    }

    CorpusScore score(const std::vector<AttentionEdit>& edits) {
        CorpusScore found{.nll = nll(measuring_, edits)};
        if (options_.bleu > 0) {
            found.bleu = bleu(edits);
        }
        return found;
    }

    // Prunes in this order of indices into found_.heads.
    std::vector<PruningPoint> curve(const std::vector<std::size_t>& order) {
        std::vector<PruningPoint> points{{static_cast<int>(order.size()), found_.whole}};
        for (std::size_t point = 1; point <= points_; ++point) {
            std::vector<AttentionEdit> edits;
            for (std::size_t i = 0; i < order.size() * point / points_; ++i) {
                const AblatedHeads& one = found_.heads[order[i]];
                edits.push_back({.site = one.site, .head = one.head, .kind = EditKind::Off});
            }
            points.push_back({static_cast<int>(order.size() - edits.size()), score(edits)});
        }
        return points;
    }

    void prune() {
        std::vector<std::size_t> order(found_.heads.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        for (int seed = 0; seed < options_.orders; ++seed) {
            std::vector<std::size_t> shuffled = order;
            Random(options_.seed, static_cast<std::uint64_t>(seed)).shuffle(shuffled);
            found_.pruned_at_random.push_back(curve(shuffled));
        }
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return found_.heads[a].score.nll < found_.heads[b].score.nll;
        });
        found_.pruned = curve(order);
    }

    Backend& backend_;
    const LoadedModel& translator_;
    const CorpusImportanceOptions& options_;
    const CorpusProgress& progress_;
    std::vector<AttentionSite> sites_;
    const ModelConfig& config_;
    CorpusText choosing_, measuring_;
    std::size_t points_ = 0;
    std::size_t done_ = 0;
    std::size_t total_ = 0;
    CorpusImportance found_;
};

}  // namespace

CorpusImportance measure_corpus_importance(Backend& backend, const LoadedModel& translator, const CorpusText& text,
                                           const CorpusImportanceOptions& options, const CorpusProgress& progress) {
    return CorpusAblation(backend, translator, text, options, progress).measure();
}

Importance per_thousand_tokens(const CorpusImportance& importance) {
    Importance shown;
    shown.family = importance.family;
    shown.finished = true;
    for (const AblatedHeads& one : importance.heads) {
        const double nats = 1000.0 * one.score.nll;
        shown.heads.push_back({one.site, one.head, -nats, nats - 1000.0 * importance.choosing_whole.nll});
    }
    return shown;
}

}  // namespace headscope
