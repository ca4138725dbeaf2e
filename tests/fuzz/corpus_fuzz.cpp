// Any bytes as text: as parallel files (the halves before and behind the first byte 1), as TSV, plain and gzip, through
// the tokenizer and back.
#include "data/batch.h"
#include "data/corpus.h"
#include "support/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/gzip.h"
#include "tests/text/sentences.h"
#include "text/lines.h"
#include "text/tokenizer_training.h"

using namespace headscope;

namespace {

const Tokenizer& tokenizer() {
    static const Tokenizer trained = Tokenizer::from_bytes(
        train_tokenizer({.sentences = number_sentences(), .type = TokenizerType::Unigram, .vocabulary_size = 100}),
        "fuzz");
    return trained;
}

void check_text(const ParallelText& text) {
    HEADSCOPE_CHECK(text.source.size() == text.target.size(), "sides of different length");
    const EncodedCorpus corpus = encode_corpus(text, tokenizer(), tokenizer(), 50);
    HEADSCOPE_CHECK(corpus.pairs.size() + static_cast<std::size_t>(corpus.dropped_long + corpus.dropped_empty) ==
                        text.source.size(),
                    "pairs that vanish");
    for (const Example& pair : corpus.pairs) {
        HEADSCOPE_CHECK(!first_invalid_utf8(tokenizer().decode(pair.source)), "decoded text that is not UTF-8");
    }
    if (!corpus.pairs.empty()) {
        make_batch(corpus.pairs, {}, 0);
    }
}

}  // namespace

std::vector<std::string> headscope::fuzz_seeds() {
    const std::string tsv = "one\teins\ntwo\tzwei\n\nthree\tdrei\r\nfünf\tﬁ\u0308\u200b\U0001F600\n";
    return {tsv, gzip(tsv),
            "one\n\ntwo\u0085\n\x01"
            "eins\nZahl\nzwei\n",
            gzip("one\ntwo") +
                "\x01"
                "eins\nzwei"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = as_text(data, size);
    const MemoryFile whole(bytes);
    run_or_refuse([&] { check_text(read_tsv(whole.path())); });
    run_or_refuse([&] {
        for (const std::string& line : read_lines(whole.path())) {
            HEADSCOPE_CHECK(!first_invalid_utf8(line) && line.find('\n') == std::string::npos, "a line that is none");
        }
    });
    const std::size_t middle = std::min(bytes.find('\x01'), bytes.size());
    const MemoryFile source(bytes.substr(0, middle));
    const MemoryFile target(bytes.substr(std::min(middle + 1, bytes.size())));
    run_or_refuse([&] { check_text(read_parallel(source.path(), target.path())); });
    return 0;
}
