// Splits off validation documents from the text of a language model.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/document_reader.h"
#include "train/unlearnable_lines.h"

namespace headscope {

struct DocumentParts {
    std::string train_file = {}, valid_file = {};  // absolute
    std::int64_t train = 0, valid = 0;             // documents
    std::int64_t shared = 0;                       // left out: equal to a validation document
    std::int64_t train_bytes = 0;
    UnlearnableLines unlearnable = {};
    std::int64_t characters = 0, words = 0;  // distinct, for the size of the vocabulary
    DocumentForm form = DocumentForm::Line;
    std::vector<std::string> labels = {};  // of texts with classes, sorted; empty: they have numbers
    bool lists = false;                    // a text may have any number of them
};

// How many of so many become validation text.
std::int64_t held_out_of(std::int64_t documents);

// Reads a file twice, as a stream, and writes its parts to `folder`. One percent of the documents (of few, more), at
// most 1000, becomes validation text. Deterministic for the same text and seed. Error for fewer than 20 different
// documents.
DocumentParts split_documents(const std::string& file, DocumentForm form, const std::string& folder,
                              std::uint64_t seed);

}  // namespace headscope
