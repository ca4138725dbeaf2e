// Lines on their way to their translations: cut into units, which go in batches of similar length, and put together
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "infer/line_translator.h"
#include "infer/prepared_line.h"

namespace headscope {

// Units of different batches may be worked at by different threads; all else is one thread's at a time.
class TranslationWork {
public:
    enum class Order {
        LongestFirst,  // memory that suffices for the first batch suffices for all
        SoonestFirst,  // the batch of the first line that is waited for comes first: results begin to go out at once
    };

    // `longest`: source pieces that the model takes, its end included.
    TranslationWork(const ModelDirectory& model, const std::vector<SourceLine>& lines,
                    const TranslationOptions& options, std::int64_t longest, Order order);

    std::size_t batches() const { return batches_.size(); }
    std::vector<TranslationUnit*> units_of(std::size_t batch);
    // Its units hold what became of them.
    void done(std::size_t batch);

    std::size_t lines() const { return lines_.size(); }
    std::size_t finished() const;  // lines, in order or not
    // The results before which none is missing, each once, in order.
    std::vector<TranslatedSentence> next();

private:
    struct Line {
        std::size_t first_unit = 0;
        std::size_t units = 0;
        std::size_t waiting = 0;  // units that are not translated yet
        std::string remark = {};
    };
    TranslatedSentence finished_line(Line& line);

    SearchOptions search_;
    std::vector<TranslationUnit> units_;  // of all lines, side by side
    std::vector<std::size_t> line_of_;    // of each unit
    std::vector<Line> lines_;
    std::vector<std::vector<std::size_t>> batches_;  // of the units that have pieces
    std::size_t handed_out_ = 0;
};

// Batch after batch: `translate` one, and `sink` gets what LineTranslator::translate_in_order says.
void work_in_order(TranslationWork& work,
                   const std::function<void(const std::vector<TranslationUnit*>& units)>& translate,
                   const TranslatedSink& sink);

// Which of these lengths go together: indices in batches of similar length whose rows * longest, padded, stays within
// `budget` (a longer one goes alone). Entries of length 0 are left out.
std::vector<std::vector<std::size_t>> batches_by_length(const std::vector<std::int64_t>& lengths, std::int64_t budget);

}  // namespace headscope
