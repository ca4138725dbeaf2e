// What stands around the texts of a CTranslate2 model.
#pragma once

#include <string>

#include "import/problems.h"
#include "model/model_directory.h"

namespace headscope {

// The texts of the special pieces, of the settings; and whether the decoder starts from zeros instead of a piece.
struct CTranslate2Pieces {
    std::string begin, end, unknown;
    bool starts_from_zero = false;
};
CTranslate2Pieces ctranslate2_pieces(const ForeignConfig& settings, bool starts_from_zero);

// The tokenizers: vocabularies, and SentencePiece models that may lie beside; the languages of mBART, M2M100, NLLB and
// OPUS-MT, which their names in the vocabulary tell; and the frame of texts. After the sizes of the network and the
// decoding options.
void read_ctranslate2_frame(const ForeignConfig& settings, const CTranslate2Pieces& pieces, ModelDirectory& model);

}  // namespace headscope
