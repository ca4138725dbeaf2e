#include "text/tokenizer_json.h"

#include <catch2/catch.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "text/byte_pieces.h"
#include "text/tokenizer.h"
#include "text/vocabulary_file.h"

using namespace headscope;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

using Ids = std::vector<std::int32_t>;
using Texts = std::vector<std::string>;
using Spans = std::vector<ByteSpan>;

// The bytes of "the mugé", and some merges.
json gpt2() {
    json file = {{"added_tokens", {{{"id", 12}, {"content", "<|endoftext|>"}, {"special", true}}}},
                 {"normalizer", nullptr},
                 {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
                 {"decoder", {{"type", "ByteLevel"}}},
                 {"model", {{"type", "BPE"}, {"merges", {"t h", "\u0120 th", "\u00c3 \u00a9"}}}}};
    int id = 0;
    for (const char* piece :
         {"t", "h", "e", "\u0120", "m", "u", "g", "\u00c3", "\u00a9", "th", "\u0120th", "\u00c3\u00a9"}) {
        file["model"]["vocab"][piece] = id++;
    }
    return file;
}

json bert() {
    return {{"added_tokens", {{{"id", 1}, {"content", "[MASK]"}, {"special", true}}}},
            {"normalizer", {{"type", "BertNormalizer"}, {"lowercase", true}}},
            {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
            {"model",
             {{"type", "WordPiece"},
              {"unk_token", "[UNK]"},
              {"vocab",
               {{"[UNK]", 0}, {"[MASK]", 1}, {"ca", 2}, {"##fe", 3}, {".", 4}, {"\u4e2d", 5}, {"cafe\u0301", 6}}}}}};
}

json unigram() {
    json file = {{"added_tokens", {{{"id", 0}, {"content", "<unk>"}, {"special", true}}}},
                 {"normalizer",
                  {{"type", "Sequence"},
                   {"normalizers",
                    {{{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}},
                     {{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}},
                     {{"type", "Replace"}, {"pattern", {{"String", "\u00df"}}}, {"content", "ss"}},
                     {{"type", "Precompiled"}, {"precompiled_charsmap", ""}}}}}},
                 {"pre_tokenizer",
                  {{"type", "Sequence"},
                   {"pretokenizers",
                    {{{"type", "WhitespaceSplit"}},
                     {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}}}}}},
                 {"decoder", {{"type", "Metaspace"}, {"replacement", "\u2581"}, {"prepend_scheme", "always"}}},
                 {"model", {{"type", "Unigram"}, {"unk_id", 0}, {"byte_fallback", false}, {"vocab", json::array()}}}};
    for (const auto& [piece, score] : std::vector<std::pair<const char*, double>>{{"<unk>", 0.0},
                                                                                  {"\u2581", -3.0},
                                                                                  {"s", -2.0},
                                                                                  {"a", -2.0},
                                                                                  {"\u2581a", -2.5},
                                                                                  {"ss", -3.5},
                                                                                  {"sa", -4.0},
                                                                                  {"<0xC3>", -9.0},
                                                                                  {"<0xA9>", -9.0}}) {
        file["model"]["vocab"].push_back(json::array({piece, score}));
    }
    return file;
}

Tokenizer made(const json& file) {
    return Tokenizer::from_bytes(file.dump(), "tokenizer.json");
}

JoinedText joined_bytes(const Texts& pieces) {
    ByteJoiner joiner;
    JoinedText joined;
    for (const std::string& piece : pieces) {
        joiner.add_bytes(piece, joined);
    }
    joiner.finish(joined);
    return joined;
}

std::string problem(json file, const std::function<void(json&)>& edit) {
    edit(file);
    return error_of([&] { made(file); });
}

}  // namespace

TEST_CASE("bytes are written as characters", "[byte_bpe]") {
    std::string all;
    for (int byte = 0; byte < 256; ++byte) {
        const std::string& character = character_of_byte(static_cast<unsigned char>(byte));
        CHECK(bytes_of_characters(character) == std::string(1, static_cast<char>(byte)));
        all += character;
    }
    CHECK(bytes_of_characters(all)->size() == 256);
    CHECK(character_of_byte(' ') == "\u0120");
    CHECK(character_of_byte('\n') == "\u010a");
    CHECK(character_of_byte('a') == "a");
    CHECK(bytes_of_characters("a b") == std::nullopt);
    CHECK(readable_bytes("\u0120the") == " the");
    CHECK(readable_bytes("\u00c3\u00a9\u00c3") == "\u00e9<0xC3>");
    CHECK(readable_bytes("\u4e2d") == "\u4e2d");

    // The character belongs to the piece with its last byte; one U+FFFD for each beginning of a character.
    const JoinedText joined = joined_bytes({"a", "\xc3", "\xa9", "\xe2", "\x82z", "\xff"});
    CHECK(joined.text == "a\u00e9\ufffdz\ufffd");
    CHECK(joined.spans == Spans{{0, 1}, {1, 1}, {1, 3}, {3, 3}, {3, 7}, {7, 10}});
    CHECK(joined_bytes({"\xf0\x9f\x98\xf0\x80\x80\xed\xa0\x80"}).text == "\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd\ufffd");
}

TEST_CASE("byte-level BPE merges the bytes of words", "[byte_bpe]") {
    const Tokenizer tokenizer = made(gpt2());
    CHECK(tokenizer.type() == TokenizerType::ByteBpe);
    CHECK(tokenizer.encode_pieces("the the m\u00e9") ==
          Texts{"th", "e", "\u0120th", "e", "\u0120", "m", "\u00c3\u00a9"});
    CHECK(tokenizer.encoded_spans("the the m\u00e9") == Spans{{0, 2}, {2, 3}, {3, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 11}});
    CHECK(tokenizer.decode(tokenizer.encode("the the m\u00e9")) == "the the m\u00e9");
    CHECK(tokenizer.readable("\u0120th") == " th");
    CHECK(tokenizer.readable("<|endoftext|>") == "<|endoftext|>");

    // Special tokens stand in the text, and decoding drops them.
    CHECK(tokenizer.encode("th<|endoftext|>e") == Ids{9, 12, 2});
    CHECK(tokenizer.encoded_spans("th<|endoftext|>e") == Spans{{0, 2}, {2, 15}, {15, 16}});
    CHECK(tokenizer.decode({9, 12, 2}) == "the");
    CHECK(tokenizer.eos_id() == 12);
    CHECK(tokenizer.bos_id() == 12);
    CHECK(tokenizer.unk_id() == -1);
    CHECK(tokenizer.is_blank(" \n"));
    CHECK_FALSE(tokenizer.is_blank("t"));

    // A byte without a piece is dropped, or unknown.
    CHECK(tokenizer.encode("tXXe") == Ids{0, 2});
    json unknown = gpt2();
    unknown["model"]["unk_token"] = "u";
    CHECK(made(unknown).encode("tXXe") == Ids{0, 5, 5, 2});
    unknown["model"]["fuse_unk"] = true;
    CHECK(made(unknown).encode("tXXe") == Ids{0, 5, 2});
    CHECK(made(unknown).encoded_spans("tXXe") == Spans{{0, 1}, {1, 3}, {3, 4}});

    json prefixed = gpt2();
    prefixed["pre_tokenizer"]["add_prefix_space"] = true;
    CHECK(made(prefixed).encode_pieces("the the") == Texts{"\u0120th", "e", "\u0120th", "e"});
    CHECK(made(prefixed).encoded_spans("the the") == Spans{{0, 2}, {2, 3}, {3, 6}, {6, 7}});

    json whole = gpt2();
    whole["model"]["vocab"]["the"] = 13;
    CHECK(made(whole).encode("the") == Ids{9, 2});
    whole["model"]["ignore_merges"] = true;
    CHECK(made(whole).encode("the") == Ids{13});

    json regex = gpt2();
    regex["model"]["merges"].push_back({"e", "\u0120"});
    regex["model"]["vocab"]["e\u0120"] = 13;
    CHECK(made(regex).encode("e m") == Ids{2, 3, 4});
    regex["pre_tokenizer"]["use_regex"] = false;
    CHECK(made(regex).encode("e m") == Ids{13, 4});
}

TEST_CASE("added tokens take white space if they say so", "[byte_bpe]") {
    json file = gpt2();
    file["added_tokens"] = {{{"id", 12}, {"content", "<m>"}, {"lstrip", true}, {"special", true}},
                            {{"id", 13}, {"content", "<mm>"}, {"rstrip", true}},
                            {{"id", 14}, {"content", "<"}, {"normalized", true}}};
    const Tokenizer tokenizer = made(file);
    CHECK(tokenizer.encode("e \u3000<m> e") == Ids{2, 12, 3, 2});
    CHECK(tokenizer.encoded_spans("e \u3000<m> e") == Spans{{0, 1}, {1, 8}, {8, 9}, {9, 10}});
    CHECK(tokenizer.encode("e<mm> \u3000e") == Ids{2, 13, 2});
    CHECK(tokenizer.encoded_spans("e<mm> \u3000e") == Spans{{0, 1}, {1, 9}, {9, 10}});
    CHECK(tokenizer.encode("<m><<m>") == Ids{12, 14, 12});
    CHECK(tokenizer.decode({2, 13, 14, 12, 2}) == "e<mm><e");
}

TEST_CASE("WordPiece of BERT", "[word_piece]") {
    const Tokenizer tokenizer = made(bert());
    CHECK(tokenizer.type() == TokenizerType::WordPiece);
    CHECK(tokenizer.encode("CAF\u00c9 [MASK]. x\u4e2d") == Ids{2, 3, 1, 4, 0, 5});
    CHECK(tokenizer.encoded_spans("CAF\u00c9 [MASK]. x\u4e2d") ==
          Spans{{0, 2}, {2, 5}, {6, 12}, {12, 13}, {14, 15}, {15, 18}});
    CHECK(tokenizer.encoded_spans("CAFE\u0301 ca") == Spans{{0, 2}, {2, 4}, {7, 9}});
    CHECK(tokenizer.decode({1, 2, 3, 4, 5}) == "cafe. \u4e2d");
    CHECK(tokenizer.unk_id() == 0);

    json options = bert();
    options["normalizer"]["strip_accents"] = false;
    CHECK(made(options).encode("Cafe\u0301") == Ids{6});
    options["normalizer"]["lowercase"] = false;
    CHECK(made(options).encode("Cafe\u0301 cafe\u0301") == Ids{0, 6});
    CHECK(made(options).encode("c\u00ada") == Ids{2});
    options["normalizer"]["clean_text"] = false;
    CHECK(made(options).encode("c\u00ada") == Ids{0});
    options["normalizer"]["handle_chinese_chars"] = false;
    CHECK(made(options).encode("ca\u4e2d") == Ids{0});
    options["model"]["max_input_chars_per_word"] = 1;
    CHECK(made(options).encode("ca .") == Ids{0, 4});
}

TEST_CASE("files of older models become a tokenizer.json", "[tokenizer_json]") {
    json ids = gpt2()["model"]["vocab"];
    ids["<mask>"] = 12;
    const auto vocabulary = parse_vocabulary(ids.dump(), "vocab.json");
    const std::string merges = "#version: 0.2\nt h\n\u0120 th\r\n\u00c3 \u00a9\n\n";
    const Tokenizer old = Tokenizer::from_bytes(byte_bpe_json(*vocabulary, merges, "merges.txt"), "old");
    CHECK(old.encode("the the \u00e9 <mask>e") == Ids{9, 2, 10, 2, 3, 11, 12, 2});
    CHECK(old.encode("tXh") == Ids{9});  // without its X, which has no piece
    CHECK(old.vocabulary().piece(12).kind == PieceKind::Control);
    const Tokenizer other =
        Tokenizer::from_bytes(byte_bpe_json(*vocabulary, merges, "merges.txt", true, {{.content = "<new>"}}), "other");
    CHECK(other.encode("the<new>") == Ids{10, 2, 13});
    for (const char* wrong : {"t h\nt\n", "t h\nt h e\n", "t h\n t\n", "t h\nt \n", "t h\nt \xff\n"}) {
        CHECK_THAT(error_of([&] { byte_bpe_json(*vocabulary, wrong, "merges.txt"); }),
                   Contains("merges.txt: line 2: expected two pieces with a space between them"));
    }

    const auto bert_vocabulary =
        parse_vocabulary("[PAD]\n[unused1]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nca\n##fe\n", "vocab.txt");
    const Tokenizer uncased =
        Tokenizer::from_bytes(word_piece_json(*bert_vocabulary, {.strip_accents = true, .lowercase = true}), "uncased");
    CHECK(uncased.encode("Caf\u00e9 [MASK] [unused1]") == Ids{6, 7, 5, 2, 2, 2});
    CHECK(uncased.pad_id() == 0);
    CHECK(uncased.bos_id() == 3);
    CHECK(uncased.eos_id() == 4);
    CHECK(uncased.unk_id() == 2);
    CHECK(Tokenizer::from_bytes(word_piece_json(*bert_vocabulary, {}), "cased").encode("Caf\u00e9") == Ids{2});
    CHECK_THAT(error_of([] { word_piece_json(*parse_vocabulary("ca\n", "vocab.txt"), {}); }),
               Contains("vocab.txt has no [UNK]"));
}

TEST_CASE("a model directory can hold a tokenizer.json with more pieces", "[tokenizer_json]") {
    TemporaryFolder folder;
    const std::string path = folder.write("tokenizer.json", bert().dump());
    const Tokenizer own = Tokenizer::load(path);
    CHECK(own.files() == TokenizerFiles{bert().dump(), ""});
    const Tokenizer padded = Tokenizer::load(
        path, numbered_vocabulary(own.vocabulary().pieces(), own.vocabulary().special(), "padded", {.size = 10}));
    CHECK(padded.size() == 10);
    CHECK(padded.encode("Caf\u00e9 [MASK]") == Ids{2, 3, 1});
    CHECK(padded.decode({2, 3, 1}) == "cafe");
    CHECK(parse_vocabulary(padded.files().vocabulary, "again")->size() == 10);
}

TEST_CASE("a unigram model gives the likeliest pieces", "[tokenizer_json]") {
    const Tokenizer tokenizer = made(unigram());
    CHECK(tokenizer.type() == TokenizerType::Unigram);
    CHECK(tokenizer.encode_pieces("a\u00dfa") == Texts{"\u2581a", "ss", "a"});  // -8, with "s", "sa" -8.5
    CHECK(tokenizer.encoded_spans("a\u00dfa") == Spans{{0, 1}, {1, 3}, {3, 4}});
    CHECK(tokenizer.encode_pieces("a  sxya") == Texts{"\u2581a", "\u2581", "s", "xy", "a"});
    CHECK(tokenizer.encode("a  sxya") == Ids{4, 1, 2, 0, 3});
    CHECK(tokenizer.decode({4, 1, 2, 3}) == "a sa");
    CHECK(tokenizer.split_pieces().piece(4).score == -2.5F);
    json bytes = unigram();
    bytes["model"]["byte_fallback"] = true;
    const Tokenizer with_bytes = made(bytes);
    CHECK(with_bytes.encode("s\u00e9s\u00e8") == Ids{1, 2, 7, 8, 2, 0});  // no piece for the last byte of the other
    CHECK(with_bytes.encoded_spans("\u00e9") == Spans{{0, 0}, {0, 0}, {0, 2}});
    CHECK(with_bytes.vocabulary().piece(7).kind == PieceKind::Byte);
    json bare = unigram();
    json& marks = bare["pre_tokenizer"]["pretokenizers"][1];
    marks.erase("prepend_scheme");
    marks["add_prefix_space"] = false;
    CHECK(made(bare).encode_pieces("sa") == Texts{"sa"});
    marks["add_prefix_space"] = true;
    CHECK(made(bare).encode_pieces("a") == Texts{"\u2581a"});
}

TEST_CASE("a model directory can hold a unigram tokenizer.json with more pieces", "[tokenizer_json]") {
    TemporaryFolder folder;
    const std::string path = folder.write("tokenizer.json", unigram().dump());
    const Tokenizer own = Tokenizer::load(path);
    const Tokenizer padded = Tokenizer::load(
        path, numbered_vocabulary(own.vocabulary().pieces(), own.vocabulary().special(), "padded", {.size = 12}));
    CHECK(padded.size() == 12);
    for (const Tokenizer* tokenizer : {&own, &padded}) {
        CHECK(tokenizer->decode({1, 1, 0, 4}) == " <unk> a");  // SentencePiece would write U+2047 here
    }
}

TEST_CASE("errors of a tokenizer.json name file and key", "[tokenizer_json]") {
    const auto rejects = [](const json& file, const char* pointer, const json& value, const std::string& text) {
        CAPTURE(pointer, value);
        CHECK_THAT(problem(file, [&](json& edited) { edited[json::json_pointer(pointer)] = value; }),
                   Contains("tokenizer.json: ") && Contains(text));
    };
    rejects(gpt2(), "/model/type", "WordLevel", R"("model.type" is "WordLevel", which is not supported)");
    rejects(gpt2(), "/model/type", "Unigram", R"(which has the form of another type of model)");
    rejects(gpt2(), "/model", nullptr, R"("model" is null)");
    rejects(gpt2(), "/model/vocab", 1, R"("model.vocab" is 1, which must be an object)");
    rejects(gpt2(), "/model/vocab/t", 99, "no piece has the id 0");
    rejects(gpt2(), "/model/vocab/t", "x", "the id of the piece 't' must be an integer");
    rejects(gpt2(), "/model/merges", "t h", R"("model.merges" is "t h", which must be a list)");
    rejects(gpt2(), "/model/merges/1", "t", R"("model.merges[1]" is "t")");
    rejects(gpt2(), "/model/merges/1", "t h e", R"("model.merges[1]" is "t h e")");
    rejects(gpt2(), "/model/merges/1", {"t"}, R"("model.merges[1]" is ["t"])");
    rejects(gpt2(), "/model/merges/1", {"t", 1}, R"("model.merges[1]" is ["t",1])");
    rejects(gpt2(), "/model/merges/1", "t e", "the merge 2, 't e', needs the piece 'te'");
    rejects(gpt2(), "/model/dropout", 0.1, R"("model.dropout" is 0.1)");
    rejects(gpt2(), "/model/byte_fallback", true, R"("model.byte_fallback" is true)");
    rejects(gpt2(), "/model/end_of_word_suffix", "</w>", R"("model.end_of_word_suffix" is "</w>")");
    rejects(gpt2(), "/model/unk_token", "X", R"("model.unk_token" is "X", which is not in the vocabulary)");
    rejects(gpt2(), "/normalizer", {{"type", "Lowercase"}}, R"("normalizer" is {"type":"Lowercase"})");
    rejects(gpt2(), "/pre_tokenizer", {{"type", "Whitespace"}}, R"("pre_tokenizer" is {"type":"Whitespace"})");
    const auto rejects_pre = [&](const json& step, const std::string& text) {
        rejects(gpt2(), "/pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {step, {{"type", "ByteLevel"}}}}},
                text);
    };
    const std::string first = R"("pre_tokenizer.pretokenizers[0])";
    rejects_pre({{"type", "Punctuation"}}, first + R"(" is {"type":"Punctuation"}, which is not supported)");
    rejects_pre({{"type", "Split"}, {"pattern", {{"Regex", "a"}}}, {"behavior", "Alone"}},
                first + R"(.behavior" is "Alone", which must be Removed, Isolated)");
    rejects_pre({{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}},
                first + R"(.pattern.Regex" is no regular expression: missing closing parenthesis)");
    rejects_pre({{"type", "Split"}, {"pattern", json::object()}, {"behavior", "Isolated"}},
                first + R"(.pattern.Regex" is null, which is empty)");
    rejects(gpt2(), "/pre_tokenizer",
            {{"type", "Sequence"}, {"pretokenizers", {{{"type", "ByteLevel"}}, {{"type", "Digits"}}}}},
            R"("pre_tokenizer.pretokenizers[1]" is {"type":"Digits"}, which must not follow "ByteLevel")");
    rejects(gpt2(), "/pre_tokenizer/use_regex", "no", R"("pre_tokenizer.use_regex" is "no", which is not understood)");
    rejects(gpt2(), "/decoder", {{"type", "Metaspace"}}, R"("decoder" is {"type":"Metaspace"})");
    rejects(gpt2(), "/added_tokens/0/id", 0, "the id 0 belongs to two pieces");
    rejects(gpt2(), "/added_tokens/0/content", "t",
            "the added token 't' has the id 12, but in \"model.vocab\" it has 0");
    rejects(gpt2(), "/added_tokens/0/content", "", R"("added_tokens[0].content" is "")");
    rejects(gpt2(), "/added_tokens", 1, R"("added_tokens" is 1, which must be a list)");

    rejects(bert(), "/normalizer", {{"type", "NFD"}}, R"("normalizer" is {"type":"NFD"})");
    rejects(bert(), "/pre_tokenizer", {{"type", "Whitespace"}}, R"("pre_tokenizer" is {"type":"Whitespace"})");
    rejects(bert(), "/decoder", {{"type", "WordPiece"}, {"cleanup", false}}, R"("decoder" is )");
    rejects(bert(), "/model/continuing_subword_prefix", "@@", R"("model.continuing_subword_prefix" is "@@")");
    rejects(bert(), "/model/unk_token", nullptr, R"("model.unk_token" is null)");

    const char* steps = "/normalizer/normalizers";
    const auto rejects_step = [&](const json& step, const std::string& text) {
        rejects(unigram(), (steps + std::string("/0")).c_str(), step, text);
    };
    rejects(unigram(), "/normalizer", {{"type", "Nmt"}}, R"("normalizer" is {"type":"Nmt"}, which is not supported)");
    rejects_step({{"type", "Lowercase"}}, R"("normalizer.normalizers[0]" is {"type":"Lowercase"})");
    rejects_step({{"type", "Replace"}, {"pattern", {{"Regex", "a\\K"}}}},
                 R"("normalizer.normalizers[0].pattern.Regex" holds '\K', which is not supported)");
    rejects_step({{"type", "Replace"}, {"pattern", {{"String", ""}}}}, R"(.pattern.String" is "", which is empty)");
    rejects_step({{"type", "Precompiled"}, {"precompiled_charsmap", "AAEC$"}}, "which is not Base64");
    rejects_step({{"type", "Precompiled"}, {"precompiled_charsmap", "AAQAAA=="}}, "which is damaged");
    rejects(unigram(), "/pre_tokenizer/pretokenizers/0/type", "Whitespace", R"("pre_tokenizer.pretokenizers[0]" is )");
    rejects(unigram(), "/pre_tokenizer/pretokenizers/1/type", "ByteLevel", R"(is not supported with this model)");
    rejects(unigram(), "/pre_tokenizer/pretokenizers/1/replacement", "_",
            R"("pre_tokenizer.pretokenizers[1].replacement" is "_")");
    rejects(unigram(), "/pre_tokenizer/pretokenizers/1/prepend_scheme", "last", R"(prepend_scheme" is "last")");
    rejects(unigram(), "/decoder", {{"type", "WordPiece"}}, R"("decoder" is {"type":"WordPiece"})");
    rejects(unigram(), "/decoder", {{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}}}}, R"("decoder" is )");
    rejects(unigram(), "/model/vocab/3", {"a"}, R"("model.vocab[3]" is ["a"], which must be a piece and its score)");
    rejects(unigram(), "/model/vocab/3", json::array({"s", -1.0}),
            R"("model.vocab[3]" is ["s",-1.0], which occurs twice)");
    rejects(unigram(), "/model/unk_id", 9, R"("model.unk_id" is 9, which is not in the vocabulary)");
    CHECK_THAT(error_of([] { Tokenizer::from_bytes("{\"model\": ", "t.json"); }), Contains("t.json is not valid JSON"));
}

TEST_CASE("words added beside a normalizer are found in the normalised text", "[tokenizer_json]") {
    json file = bert();
    file["added_tokens"] = {{{"id", 1}, {"content", "[MASK]"}, {"special", true}},
                            {{"id", 7}, {"content", "New York"}, {"normalized", true}},
                            {{"id", 8}, {"content", "\u00c9t\u00e9"}, {"normalized", true}},
                            {{"id", 9}, {"content", "sw"}, {"single_word", true}},
                            {{"id", 10}, {"content", "\u4e2dx"}, {"normalized", true}, {"lstrip", true}}};
    const Tokenizer tokenizer = made(file);
    CHECK(tokenizer.encode("ca NEW\tyork.") == Ids{2, 7, 4});
    CHECK(tokenizer.encoded_spans("ca NEW\tyork.") == Spans{{0, 2}, {3, 11}, {11, 12}});
    CHECK(tokenizer.encode("xete\u0301 [MASK]ETE") == Ids{0, 8, 1, 8});
    CHECK(tokenizer.encode("sw.sw swx _sw s\u0301w") == Ids{9, 4, 9, 0, 0, 0, 0});
    CHECK(tokenizer.encode("ca  \u4e2dXca \u4e2d") == Ids{2, 10, 2, 5});
    CHECK(tokenizer.decode({7, 8}) == "New York \u00c9t\u00e9");

    json spaced = unigram();
    spaced["added_tokens"].push_back({{"id", 9}, {"content", "\u00df"}, {"normalized", true}});
    CHECK(made(spaced).encode("a\u00dfa ss a") == Ids{4, 9, 4, 9, 4});
}
