// headscope attention --corpus: what heads do over many sentences.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "answers/attention_pictures.h"
#include "cli/look/attention_recording.h"
#include "cli/opened_engine.h"
#include "observe/corpus_rules.h"

namespace headscope {

// A question about a corpus, checked except for its texts.
struct CorpusLook {
    struct Find {
        std::vector<CorpusQuery> queries;
    };
    struct Importance {
        std::size_t bleu = 0;  // sentences to translate
    };

    std::string corpus;     // a file
    std::size_t limit = 0;  // sentences of it; 0: all
    std::variant<Find, Importance> question;
    RecordRequest request;  // of each sentence, without its texts
    PictureOptions picture;
    ShownFormat format;
};

// Searches the corpus for heads, or measures their importance over it. Returns the bytes to write.
std::string look_at_corpus(OpenedEngine& opened, const CorpusLook& look);

}  // namespace headscope
