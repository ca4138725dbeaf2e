// Texts as vectors: the hidden states of a model after one of its layers, pooled over a line, a word or a piece.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "backend/choices.h"
#include "explore/exploration.h"
#include "infer/loaded_model.h"
#include "infer/session.h"
#include "model/frame_of_config.h"
#include "observe/recorded_text.h"

namespace headscope {

enum class VectorUnit : std::uint8_t { Line, Word, Piece };  // what gets a vector of its own
enum class Pooling : std::uint8_t { Mean, First, Last };     // of the states of its tokens
// Their names as values of options, in the same order.
inline constexpr std::array kVectorUnits{"line", "word", "piece"};
inline constexpr std::array kPoolings{"mean", "first", "last"};

// A line is all tokens that the model reads for it, those around its pieces among them. A word is as in figures
// (observe/words.h): punctuation at its ends is a word of its own.
struct VectorOptions {
    VectorUnit unit = VectorUnit::Line;
    Pooling pooling = Pooling::Mean;  // the first token of a line must be a class token
    // 0: the embeddings; n: after layer n, counted from 1. After the last one: the stack's states, after its last norm.
    // Without one: last_vector_layer().
    std::optional<int> layer = {};
    Languages languages = {};
    std::vector<AttentionEdit> edits = {};  // with some, texts are read one after the other
    bool operator==(const VectorOptions&) const = default;
};

struct TextVectors {
    std::vector<std::string> labels;  // the line, its words or its pieces
    std::vector<float> values;        // [labels, d_model]
    std::string problem = {};         // why there are none; normally empty

    std::span<const float> vector(std::size_t index) const {  // [d_model], of a label
        const std::size_t width = values.size() / labels.size();
        return std::span(values).subspan(index * width, width);
    }
};

// The last layer that has a state for each token. It belongs to the encoder of a model that has one. An encoder that
// hands over only the last state of each of its mixers ends one layer earlier.
int last_vector_layer(const ModelConfig& config);

// Whether the model's texts begin with a token that can stand for the whole text: [CLS].
bool has_class_token(const ModelConfig& config);

// Error for options that such a model cannot obey.
void check_vector_options(const VectorOptions& options, const ModelConfig& config);

// The vectors of texts, by the first model. A step is one batch of texts of similar length; a vector depends on the
// others only by rounding. A text that is empty, too long for the model or not UTF-8 has a problem. Model and backend
// outlive the session.
class VectorSession final : public WorkSession {
public:
    VectorSession(Backend& backend, const LoadedModel& model, Compute compute, const std::vector<std::string>& texts,
                  VectorOptions options, std::int64_t batch_tokens);

    bool step() override;
    std::int64_t tokens() const override { return tokens_; }
    std::vector<TextVectors> take() { return std::move(results_); }  // once no step is left

private:
    // A text without a problem.
    struct Line {
        std::size_t place = 0;  // of its result
        std::vector<std::int32_t> ids;
        std::vector<RecordedToken> tokens;  // one for each id
    };
    Line encode(const std::string& text) const;
    void read(std::span<const std::size_t> members);
    void read_at_once(std::span<const std::size_t> members);
    void pool(const Line& line, const std::string& text, const float* states);

    Backend& backend_;
    const LoadedModel& model_;
    const Compute compute_;
    const std::vector<std::string>& texts_;
    const VectorOptions options_;
    std::vector<TextVectors> results_;
    std::vector<Line> lines_;
    std::vector<std::vector<std::size_t>> batches_;  // of lines
    std::size_t next_ = 0;                           // batch
    std::int64_t tokens_ = 0;
};

}  // namespace headscope
