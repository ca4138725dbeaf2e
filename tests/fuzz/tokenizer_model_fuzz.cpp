// Any bytes as a tokenizer: rejected with an Error, or usable without reading outside its memory.
#include <sentencepiece_trainer.h>

#include <algorithm>

#include "io/whole_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/text/sentences.h"
#include "text/tokenizer.h"

using namespace headscope;

// One model of each type without the normalisation table, which outweighs all else a thousand times, and one with it.
std::vector<std::string> headscope::fuzz_seeds() {
    class Sentences : public sentencepiece::SentenceIterator {
    public:
        bool done() const override { return at_ == sentences_.size(); }
        void Next() override { ++at_; }
        const std::string& value() const override { return sentences_[at_]; }
        sentencepiece::util::Status status() const override { return {}; }

    private:
        std::vector<std::string> sentences_ = number_sentences(60);
        std::size_t at_ = 0;
    };
    const std::string golden = HEADSCOPE_SOURCE_DIR "/tests/golden/tokenizers/";
    std::vector<std::string> seeds{
        "<pad>\n<unk>\n[MASK]\nDie\nZ\n##a\n##hl\n2\n##1\n", read_whole_file(golden + "roberta.json", "roberta"),
        read_whole_file(golden + "bert_uncased.json", "bert_uncased"), read_whole_file(golden + "t5.json", "t5"),
        read_whole_file(golden + "converted.json", "converted")};
    for (const char* rule : {"identity", "nmt_nfkc"}) {
        for (const char* type : {"bpe", "unigram", "char", "word"}) {
            if (rule == std::string("nmt_nfkc") && type != std::string("bpe")) {
                continue;
            }
            Sentences sentences;
            seeds.emplace_back();
            const auto status = sentencepiece::SentencePieceTrainer::Train({{"model_type", type},
                                                                            {"vocab_size", "60"},
                                                                            {"hard_vocab_limit", "false"},
                                                                            {"normalization_rule_name", rule},
                                                                            {"minloglevel", "2"}},
                                                                           &sentences, &seeds.back());
            HEADSCOPE_CHECK(status.ok(), status.ToString());
        }
    }
    return seeds;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const Tokenizer tokenizer = Tokenizer::from_bytes(as_text(data, size), "fuzz");
        for (const char* text : {"", "Die Zahl 21 heißt einundzwanzig.", "Ｄｉｅ ㌖ \u2581 ﬁ\u0308 \U0001F600",
                                 "</s> \t <unk>", "[MASK] a<mask>"}) {
            tokenizer.decode(tokenizer.encode(text));
            tokenizer.encode_pieces(text);
        }
        std::vector<std::int32_t> all;
        for (std::int32_t id = 0; id < std::min(tokenizer.size(), 200); ++id) {
            tokenizer.id_of(tokenizer.piece(id));
            tokenizer.readable(tokenizer.piece(id));
            all.push_back(id);
        }
        tokenizer.decode(all);
    } catch (const Error&) {
    }
    return 0;
}
