#include "text/word_piece_training.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <queue>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "text/bert_words.h"
#include "text/word_piece.h"

namespace headscope {

namespace {

struct CountedWord {
    AlignedWord word;
    std::int64_t count = 0;
};

// In the order of their first occurrence.
std::vector<CountedWord> count_words(const std::vector<std::string>& lines) {
    std::vector<CountedWord> words;
    std::unordered_map<std::string, std::size_t> places;
    for (const std::string& line : lines) {
        for (AlignedWord& word : bert_words(line)) {
            if (word.size() > kLongestWord) {
                continue;
            }
            const auto [place, inserted] = places.emplace(word.text, words.size());
            if (inserted) {
                words.push_back({std::move(word)});
            }
            ++words[place->second].count;
        }
    }
    return words;
}

// Removes words with characters beyond the coverage.
void cover(std::vector<CountedWord>& words, double coverage) {
    std::map<std::string_view, std::int64_t> counts;
    std::int64_t all = 0;
    for (const auto& [word, count] : words) {
        for (std::size_t i = 0; i < word.size(); ++i) {
            counts[word.part(i, i + 1)] += count;
            all += count;
        }
    }
    std::vector<std::pair<std::int64_t, std::string>> ranked;
    ranked.reserve(counts.size());
    for (const auto& [character, count] : counts) {
        ranked.emplace_back(-count, character);
    }
    std::sort(ranked.begin(), ranked.end());
    std::set<std::string, std::less<>> uncovered;
    std::int64_t covered = 0;
    for (const auto& [negative, character] : ranked) {
        if (static_cast<double>(covered) >= coverage * static_cast<double>(all)) {
            uncovered.insert(character);
        }
        covered -= negative;
    }
    std::erase_if(words, [&](const CountedWord& counted) {
        for (std::size_t i = 0; i < counted.word.size(); ++i) {
            if (uncovered.contains(counted.word.part(i, i + 1))) {
                return true;
            }
        }
        return false;
    });
}

// The character as a piece.
std::string piece_of(const AlignedWord& word, std::size_t i) {
    return std::string(i > 0 ? kContinues : "") + std::string(word.part(i, i + 1));
}

// Pieces and words are numbers here.
class Merges {
public:
    explicit Merges(const std::vector<CountedWord>& words) {
        std::set<std::string> alphabet;
        std::int64_t total = 0;
        for (const auto& [word, count] : words) {
            total += count;
            for (std::size_t i = 0; i < word.size(); ++i) {
                alphabet.insert(piece_of(word, i));
            }
        }
        least_ = std::max<std::int64_t>(total / 1'000, 1);
        for (const std::string& character : alphabet) {
            piece_with(character);
        }
        for (const auto& [word, count] : words) {
            words_.push_back({{}, count});
            for (std::size_t i = 0; i < word.size(); ++i) {
                words_.back().pieces.push_back(piece_with(piece_of(word, i)));
            }
            count_pieces(words_.back(), count);
            for (std::size_t i = 0; i + 1 < word.size(); ++i) {
                note_pair(static_cast<std::uint32_t>(words_.size() - 1), i);
            }
        }
        offer_all();
    }

    std::size_t size() const { return pieces_.size(); }

    // False if no pair is left.
    bool merge_best() {
        for (;;) {
            while (offers_.empty()) {
                if (least_ == 1) {
                    return false;
                }
                least_ /= 2;
                offer_all();
            }
            const Offer best = offers_.top();
            offers_.pop();
            // Every change of a ratio makes a new offer, so others are outdated.
            if (pairs_[best.pair].count >= least_ && ratio(pairs_[best.pair]) == best.ratio) {
                merge(best.pair);
                return true;
            }
        }
    }

    std::vector<std::string> take() {
        std::vector<std::string> texts;
        for (Counted& piece : pieces_) {
            texts.push_back(std::move(piece.text));
        }
        return texts;
    }

private:
    using Number = std::uint32_t;
    struct Counted {
        std::string text = {};
        std::int64_t count = 0;
        std::vector<Number> pairs = {};  // that have this piece, and perhaps no longer occur
    };
    struct Word {
        std::vector<Number> pieces;
        std::int64_t count = 0;
    };
    struct Pair {
        Number left = 0, right = 0;
        std::int64_t count = 0;
        std::vector<Number> words = {};  // that have or had it
    };
    struct Offer {
        double ratio = 0.0;
        Number pair = 0;
        bool operator<(const Offer& other) const {
            return ratio != other.ratio ? ratio < other.ratio : pair > other.pair;
        }
    };

    Number piece_with(const std::string& text) {
        const auto [place, inserted] = piece_numbers_.emplace(text, static_cast<Number>(pieces_.size()));
        if (inserted) {
            pieces_.push_back({.text = text});
        }
        return place->second;
    }

    Pair& pair_of(Number left, Number right) {
        const std::uint64_t key = std::uint64_t{left} << 32U | right;
        const auto number = static_cast<Number>(pairs_.size());
        const auto [place, inserted] = pair_numbers_.emplace(key, number);
        if (inserted) {
            pairs_.push_back({.left = left, .right = right});
            pieces_[left].pairs.push_back(number);
            pieces_[right].pairs.push_back(number);
        }
        return pairs_[place->second];
    }

    // Adds the word's pieces and pairs `times`, which may be negative.
    void count_pieces(const Word& word, std::int64_t times) {
        for (std::size_t i = 0; i < word.pieces.size(); ++i) {
            pieces_[word.pieces[i]].count += times;
            if (i + 1 < word.pieces.size()) {
                pair_of(word.pieces[i], word.pieces[i + 1]).count += times;
            }
        }
    }

    void note_pair(Number word, std::size_t at) {
        pair_of(words_[word].pieces[at], words_[word].pieces[at + 1]).words.push_back(word);
    }

    // Proportional to the likelihood ratio. Equal ratios are equal numbers, because division rounds correctly.
    double ratio(const Pair& pair) const {
        return static_cast<double>(pair.count) /
               (static_cast<double>(pieces_[pair.left].count) * static_cast<double>(pieces_[pair.right].count));
    }

    void offer(Number pair) {
        if (pairs_[pair].count >= least_) {
            offers_.push({ratio(pairs_[pair]), pair});
        }
    }
    void offer_all() {
        for (Number pair = 0; pair < pairs_.size(); ++pair) {
            offer(pair);
        }
    }
    void offer_pairs_of(Number piece) {
        std::erase_if(pieces_[piece].pairs, [this](Number pair) { return pairs_[pair].count == 0; });
        for (const Number pair : pieces_[piece].pairs) {
            offer(pair);
        }
    }

    void merge(Number pair) {
        const Number left = pairs_[pair].left;
        const Number right = pairs_[pair].right;
        std::vector<Number> words = std::exchange(pairs_[pair].words, {});
        std::sort(words.begin(), words.end());  // new pairs are found in the order of the text
        const Number merged = piece_with(pieces_[left].text + pieces_[right].text.substr(kContinues.size()));
        for (const Number number : words) {
            Word& word = words_[number];
            count_pieces(word, -word.count);
            std::vector<Number> pieces;
            for (std::size_t i = 0; i < word.pieces.size(); ++i) {
                const bool here = i + 1 < word.pieces.size() && word.pieces[i] == left && word.pieces[i + 1] == right;
                pieces.push_back(here ? merged : word.pieces[i]);
                i += here ? 1 : 0;
            }
            word.pieces = std::move(pieces);
            count_pieces(word, word.count);
            for (std::size_t i = 0; i + 1 < word.pieces.size(); ++i) {
                if (word.pieces[i] == merged || word.pieces[i + 1] == merged) {
                    note_pair(number, i);
                }
            }
        }
        offer_pairs_of(merged);
        offer_pairs_of(left);
        if (right != left) {
            offer_pairs_of(right);
        }
    }

    std::vector<Counted> pieces_;
    std::vector<Word> words_;
    std::vector<Pair> pairs_;
    std::unordered_map<std::string, Number> piece_numbers_;
    std::unordered_map<std::uint64_t, Number> pair_numbers_;
    std::priority_queue<Offer> offers_;
    std::int64_t least_ = 1;
};

}  // namespace

std::vector<std::string> train_word_pieces(const std::vector<std::string>& lines, std::size_t most, double coverage) {
    std::vector<CountedWord> words = count_words(lines);
    cover(words, coverage);
    Merges merges(words);
    while (merges.size() < most && merges.merge_best()) {
    }
    return merges.take();
}

}  // namespace headscope
