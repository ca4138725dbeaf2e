#include "text/vocabulary_file.h"

#include <catch2/catch.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tests/io/temporary_folder.h"

using namespace headscope;
using Catch::Matchers::Contains;

namespace {

std::shared_ptr<const Vocabulary> parsed(std::string_view bytes, const VocabularyRules& rules = {}) {
    return parse_vocabulary(bytes, "some.vocabulary", rules);
}

std::vector<std::string> texts(const Vocabulary& vocabulary) {
    std::vector<std::string> pieces;
    for (const Piece& piece : vocabulary.pieces()) {
        pieces.push_back(piece.text);
    }
    return pieces;
}

std::string problem(std::string_view bytes, const VocabularyRules& rules = {}) {
    return error_of([&] { parsed(bytes, rules); });
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("vocabulary files are read by content", "[vocabulary]") {
    const Texts expected{"</s>", "<unk>", "▁a", "'", "\"", ": 5"};
    for (const char* file : {
             R"({"<unk>": 1, "</s>": 0, "\u2581a": 2, "\"": 4, "'": 3, ": 5": 5})",
             " \n[\"</s>\", \"<unk>\", \"\\u2581a\", \"'\", \"\\\"\", \": 5\"]",
             "</s>\n<unk>\n▁a\n'\n\"\n: 5",
             "</s>\r\n<unk>\r\n▁a\r\n'\r\n\"\r\n: 5\r\n",
             "\"</s>\": 0\n\"<unk>\": 1\n\"\\u2581a\": 2\n'''': 3\n? \"\\\"\"\n: 4\n? ': 5'\n: 5\n",
             "# made by hand\n---\n</s>: 0\n<unk>: 1\n\"▁a\": 2\n\"'\": 3\n'\"': 4\n\": 5\": 5\n",
         }) {
        CAPTURE(file);
        CHECK(texts(*parsed(file)) == expected);
        CHECK(parsed(file)->special().eos == 0);
        CHECK(parsed(file)->special().unk == 1);
        CHECK(parsed(file)->special().pad == -1);
        CHECK(parsed(file)->name() == "some.vocabulary");
    }
    CHECK(texts(*parsed("[PAD]\n[UNK]\n{\n\"")) == Texts{"[PAD]", "[UNK]", "{", "\""});
    CHECK(texts(*parsed("? \"a\"\n: 0\n")) == Texts{"a"});
}

TEST_CASE("a dictionary of fairseq numbers its pieces from 4", "[vocabulary]") {
    const auto dictionary = parsed("▁the 12\na b 7\n▁the 5 #fairseq:overwrite\n<s> 2 #fairseq:overwrite\n\u3000 1\n");
    CHECK(texts(*dictionary) == Texts{"<s> (overwritten, 0)", "<pad>", "</s>", "<unk>", "▁the (overwritten, 4)", "a b",
                                      "▁the", "<s>", "\u3000"});
    CHECK(dictionary->special().bos == 0);
    CHECK(dictionary->special().pad == 1);
    CHECK(dictionary->special().eos == 2);
    CHECK(dictionary->special().unk == 3);
    CHECK(dictionary->id_of_text("▁the") == 6);
    CHECK_THAT(problem("a 1\nb 1\na 2\n"), Contains("some.vocabulary: line 3: the piece 'a' occurs twice"));
    CHECK_THAT(problem("a 1\nb\n"), Contains("some.vocabulary: line 2: expected `piece count`"));
    CHECK_THAT(problem("</s> 1\n"), Contains("line 1: the piece '</s>' occurs twice"));
}

TEST_CASE("kinds of pieces follow from their names", "[vocabulary]") {
    const auto kind = [](const std::string& piece) { return parsed(piece + "\n<unk>\n")->piece(0).kind; };
    for (const char* piece : {"<pad>", "<s>", "</s>", "[CLS]", "<blank>", "<mask>", ">>deu<<", ">>zh-Hans_CN<<",
                              "__de__", "__ast__", "deu_Latn"}) {
        CAPTURE(piece);
        CHECK(kind(piece) == PieceKind::Control);
    }
    for (const char* piece : {"a", "<br>", "__", "____", "__De__", "__code__", "deu_latn", "deu_Lat", ">><<", ">>",
                              "<0xg0>", "<padded>", "madeupword", "[unused1]"}) {
        CAPTURE(piece);
        CHECK(kind(piece) == PieceKind::Normal);
    }
    CHECK(kind("<0x0A>") == PieceKind::Byte);
    CHECK(kind("<pad15>") == PieceKind::Unused);
    CHECK(kind("madeupword0003") == PieceKind::Unused);
    CHECK(parsed("a\n<unk>\n")->piece(1).kind == PieceKind::Unknown);
}

TEST_CASE("rules say what a vocabulary file leaves open", "[vocabulary]") {
    const auto vocabulary = parsed("[\"<s>\", \"@@end\", \"a\", \"b\", \"??\"]",
                                   {.eos = "@@end", .unk = "??", .control = {"b"}, .append = {"de_DE"}, .size = 8});
    CHECK(texts(*vocabulary) == Texts{"<s>", "@@end", "a", "b", "??", "de_DE", "<unused 6>", "<unused 7>"});
    CHECK(vocabulary->special().bos == 0);
    CHECK(vocabulary->special().eos == 1);
    CHECK(vocabulary->special().unk == 4);
    CHECK(vocabulary->piece(1).kind == PieceKind::Control);
    CHECK(vocabulary->piece(3).kind == PieceKind::Control);
    CHECK(vocabulary->piece(4).kind == PieceKind::Unknown);
    CHECK(vocabulary->piece(5).kind == PieceKind::Control);
    CHECK(vocabulary->piece(7).kind == PieceKind::Unused);
    CHECK(vocabulary->id_of_text("<unused 7>") == 4);

    CHECK(texts(*parsed("a\nb\n", {.append_unknown = true})) == Texts{"a", "b", "<unk>"});
    CHECK(parsed("a\nb\n", {.append_unknown = true})->special().unk == 2);
    CHECK(parsed("a\n<unk>\n", {.append_unknown = true})->size() == 2);
    CHECK(texts(*parsed("a\n", {.unk = "??", .append_unknown = true})) == Texts{"a", "??"});
    CHECK(parsed("??\na\n", {.unk = "??", .append_unknown = true})->special().unk == 0);

    CHECK_THAT(problem("a\nb\n", {.pad = "<p>"}), Contains("some.vocabulary has no piece '<p>', which should be pad"));
    CHECK_THAT(problem("a\nb\n", {.control = {"c"}}), Contains("no piece 'c', which should be a control piece"));
    CHECK_THAT(problem("a\nb\n", {.append = {"b"}}), Contains("the piece 'b' twice, as 1 and 2"));
    CHECK_THAT(problem("a\nb\n", {.size = 1}), Contains("some.vocabulary has 2 pieces, more than the 1 of the model"));
}

TEST_CASE("errors of a vocabulary file name file and piece", "[vocabulary]") {
    CHECK_THAT(problem(R"({"a": 0, "b": 2})"), Contains("some.vocabulary: no piece has the id 1"));
    CHECK_THAT(problem(R"({"a": 0, "b": 0})"),
               Contains("some.vocabulary: the id 0 belongs to two pieces, 'a' and 'b'"));
    CHECK_THAT(problem(R"({"a": 0, "a": 1})"), Contains("some.vocabulary: duplicate key \"a\""));
    for (const char* id : {"-1", "0.0", "\"0\"", "null", "[0]", "1e3", "2147483648", "18446744073709551616"}) {
        CAPTURE(id);
        CHECK_THAT(problem(R"({"a": )" + std::string(id) + "}"),
                   Contains("some.vocabulary: the id of the piece 'a' must be an integer from 0"));
    }
    CHECK_THAT(problem(R"(["a", 1])"), Contains("some.vocabulary: the piece with the id 1 must be a string, but is 1"));
    CHECK_THAT(problem(R"(["a", "a"])"), Contains("has the piece 'a' twice, as 0 and 1"));
    CHECK_THAT(problem(R"(["a", ""])"), Contains("some.vocabulary: the piece with the id 1 is empty"));
    CHECK_THAT(problem("a\n\nb\n"), Contains("some.vocabulary: the piece with the id 1 is empty"));
    CHECK_THAT(problem(R"({"a": 0)"), Contains("some.vocabulary is not valid JSON"));
    CHECK_THAT(problem("{}"), Contains("some.vocabulary holds no pieces"));
    CHECK_THAT(problem(""), Contains("some.vocabulary holds no pieces"));
    CHECK_THAT(problem("a: 0\nb: x\n"), Contains("some.vocabulary: the id of the piece 'b' must be an integer"));
    CHECK_THAT(problem("a: 0\na: 1\n"), Contains("line 2: the piece 'a' occurs twice, before on line 1"));
    CHECK_THAT(problem("a: 0\nb:\n  c: 1\n"), Contains("some.vocabulary: line 3: expected `piece: id`"));
    CHECK_THAT(problem("a: 0\nb: [1]\n"), Contains("some.vocabulary: line 2: expected `piece: id`"));
    CHECK_THAT(error_of([] {
                   numbered_vocabulary({{"a"}, {"\xa0"}}, {}, "some.vocabulary");
               }),
               Contains("some.vocabulary: the piece with the id 1 is not UTF-8"));
    CHECK_THAT(problem("a: 0\n~: 1\n"), Contains("some.vocabulary: line 2: put null and ~ into quotes"));
    CHECK_THAT(problem("a: 0\n\"b\\q\": 1\n"), Contains("some.vocabulary is not valid YAML"));
    CHECK_THAT(problem(std::string("a\0b", 3)), Contains("'some.vocabulary' is not a SentencePiece model"));
    CHECK_THAT(error_of([] { read_vocabulary("/no/such/vocabulary"); }), Contains("/no/such/vocabulary"));
}

TEST_CASE("a vocabulary is written with all that files of other programs leave open", "[vocabulary]") {
    const auto vocabulary =
        parsed("<s>\n@@end\na\n??\n<0x41>\n", {.eos = "@@end", .unk = "??", .append = {"de_DE"}, .size = 8});
    const auto read = parsed(vocabulary_json(*vocabulary));
    CHECK(texts(*read) == texts(*vocabulary));
    for (std::int32_t id = 0; id < read->size(); ++id) {
        CHECK(read->piece(id).kind == vocabulary->piece(id).kind);
    }
    CHECK(read->special().pad == -1);
    CHECK(read->special().bos == 0);
    CHECK(read->special().eos == 1);
    CHECK(read->special().unk == 3);
    // Names such as `<pad>` mean nothing here.
    CHECK(parsed(R"({"pieces": {"<pad>": 0}})")->special().pad == -1);
    CHECK(parsed(R"({"pieces": {"<pad>": 0}})")->piece(0).kind == PieceKind::Normal);
    CHECK(parsed(R"({"pieces": 0})")->piece(0).text == "pieces");

    CHECK_THAT(problem(R"({"pieces": {"a": 0}, "special": {"pad": "b"}})"),
               Contains("some.vocabulary: \"special\" holds \"pad\": \"b\""));
    CHECK_THAT(problem(R"({"pieces": {"a": 0}, "special": {"pat": "a"}})"), Contains("must name pad, bos, eos or unk"));
    CHECK_THAT(problem(R"({"pieces": {"a": 0}, "special": []})"), Contains("some.vocabulary: \"special\" is not"));
    CHECK_THAT(problem(R"({"pieces": {"a": 0}, "control": "a"})"), Contains("some.vocabulary: \"control\" is not"));
    CHECK_THAT(problem(R"({"pieces": {"a": 0}, "control": ["b"]})"),
               Contains("some.vocabulary: \"control\" holds \"b\", which is not one of \"pieces\""));
    CHECK_THAT(problem(R"({"pieces": {"a": 0}, "more": []})"), Contains("some.vocabulary: \"more\" is not"));
}
