// What the readers of all formats have in common.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "import/problems.h"
#include "model/model_directory.h"
#include "text/tokenizer.h"

namespace headscope {

// The path of a file in the folder, "" if it has none of this name.
std::string file_in(const std::string& folder, const std::string& name);
// The first of these that there is, "" if there is none.
std::string file_in(const std::string& folder, const std::vector<std::string>& names);
// Error if it is missing, which says `what` it holds.
std::string require_file(const std::string& folder, const std::string& name, const std::string& what);

// The ids of a vocabulary for the pieces of `segmenter`, a SentencePiece model or subword-nmt's codes. Without a file,
// texts are pieces separated by spaces.
std::shared_ptr<const Tokenizer> numbered_tokenizer(const std::string& segmenter,
                                                    std::shared_ptr<const Vocabulary> vocabulary);

// A remark about the sides whose texts are pieces separated by spaces, as nothing in the folder splits texts.
void remark_spaced_pieces(ModelDirectory& model);

// `shared`: one table for source and target; `tied`: the target's is the output, too.
Tying tying_of(bool shared, bool tied);
bool shares_tables(Tying tying);
bool ties_output(Tying tying);

// Heads of equal size; a problem with `key` if they do not divide d_model.
void set_heads(std::int64_t heads, const ForeignConfig& config, const std::string& key, ModelConfig& net);
// Those of the decoder, after the encoder's, which may be others.
void set_decoder_heads(std::int64_t heads, const ForeignConfig& config, const std::string& key, ModelConfig& net);
void set_feed_forward(std::int64_t encoder, std::int64_t decoder, ModelConfig& net);

// An activation by its name in PyTorch's programs, which a key has; a problem for one that is not supported.
Activation activation_named(const ForeignConfig& config, const std::string& key, const std::string& name);
Activation activation_of(const ForeignConfig& config, const std::string& key, const std::string& fallback);

// Our key and the one that the program's file has for it.
struct KeyName {
    const char* ours;
    const char* theirs;
};
// check_model_config(), whose errors name `file` and its keys; and there must be a piece for the end.
void check_imported(const ModelDirectory& model, const std::string& file, const std::vector<KeyName>& names);

}  // namespace headscope
