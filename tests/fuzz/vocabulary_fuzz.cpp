// Any bytes as a vocabulary of another program, as merges of bytes or as codes of subword-nmt: rejected with an Error,
// or usable, and the same after it is written and read.
#include "tests/fuzz/fuzz.h"
#include "text/subword_nmt.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"
#include "text/vocabulary_file.h"

using namespace headscope;

std::vector<std::string> headscope::fuzz_seeds() {
    return {R"({"</s>": 0, "<unk>": 1, "\u2581a": 2, ">>deu<<": 3, "<pad>": 4})",
            R"(["</s>", "<unk>", "\u2581a", "<0x0A>"])",
            R"({"pieces": {"a": 0, "<u>": 1}, "special": {"unk": "<u>"}, "control": ["a"], "unused": [], "bytes": []})",
            "\"</s>\": 0\n? \"<unk>\"\n: 1\n'''': 2\n\"\\u2581\": 3\n",
            "</s>\n<unk>\n\u2581a\n[PAD]\r\n",
            "\u2581a 12\n, 5 #fairseq:overwrite\n<s> 1 #fairseq:overwrite\n",
            R"({"added_tokens": [{"id": 1, "content": "de_DE", "special": true}], "model": {"vocab": [["a", 0.5]]}})",
            "#version: 0.1\na b\nab </w>\n",
            "#version: 0.2\na b\n\u0120 ab\n"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes = as_text(data, size);
    run_or_refuse([&] {
        const auto vocabulary = parse_vocabulary(bytes, "fuzz", {.append = {"de_DE"}, .append_unknown = true});
        const auto again = parse_vocabulary(vocabulary_json(*vocabulary), "again");
        HEADSCOPE_CHECK(again->size() == vocabulary->size(), "another size");
        for (std::int32_t id = 0; id < again->size(); ++id) {
            HEADSCOPE_CHECK(again->piece(id).text == vocabulary->piece(id).text, "another piece");
            HEADSCOPE_CHECK(again->piece(id).kind == vocabulary->piece(id).kind, "another kind");
        }
        HEADSCOPE_CHECK(again->special().unk == vocabulary->special().unk, "another unknown piece");
    });
    run_or_refuse([&] {
        const auto letters = parse_vocabulary(R"(["a", "b", "\u0120", "ab", "\u0120ab", "<mask>"])", "letters");
        const Tokenizer tokenizer = Tokenizer::from_bytes(byte_bpe_json(*letters, bytes, "fuzz"), "fuzz");
        tokenizer.decode(tokenizer.encode("ab abba <mask>b"));
    });
    run_or_refuse([&] {
        const SubwordNmt codes(bytes, "fuzz");
        std::vector<std::string_view> pieces;
        const std::vector<Segment> segments = codes.split("abab a bba");
        for (const Segment& segment : segments) {
            pieces.push_back(segment.piece);
        }
        HEADSCOPE_CHECK(codes.join(pieces).text == "abab a bba", "another text");
    });
    return 0;
}
