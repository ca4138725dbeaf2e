#include "text/vocabulary_formats.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/strict_json.h"
#include "support/check.h"
#include "text/json_field.h"
#include "text/tokenizer_json.h"

namespace headscope {

namespace {

using nlohmann::json;

constexpr std::string_view kOverwrite = " #fairseq:overwrite";

std::optional<std::int64_t> integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// Collects pieces with their ids in any order.
class Numbering {
public:
    explicit Numbering(const std::string& name) : name_(name) {}

    // `id` as the file writes it, for messages.
    void add(std::string piece, std::optional<std::int64_t> id, std::string_view written) {
        if (!id || *id < 0 || *id > std::numeric_limits<std::int32_t>::max()) {
            throw Error(fmt::format("{}: the id of the piece '{}' must be an integer from 0, but is {}", name_, piece,
                                    written));
        }
        const auto [other, inserted] = pieces_.try_emplace(*id, std::move(piece));
        if (!inserted) {
            throw Error(
                fmt::format("{}: the id {} belongs to two pieces, '{}' and '{}'", name_, *id, other->second, piece));
        }
    }

    std::vector<Piece> pieces() && {
        std::vector<Piece> listed;
        for (std::size_t id = 0; id < pieces_.size(); ++id) {
            const auto found = pieces_.find(static_cast<std::int64_t>(id));
            if (found == pieces_.end()) {
                throw Error(
                    fmt::format("{}: no piece has the id {}, although there are {} pieces", name_, id, pieces_.size()));
            }
            listed.push_back({std::move(found->second)});
        }
        return listed;
    }

private:
    const std::string& name_;
    std::unordered_map<std::int64_t, std::string> pieces_;
};

// The member `key` of vocabulary_json(): a list of pieces that get `kind`.
void set_kinds(ListedPieces& listed, const json& file, const char* key, PieceKind kind, const std::string& name) {
    std::unordered_map<std::string_view, Piece*> by_text;
    for (Piece& piece : listed.pieces) {
        by_text.emplace(piece.text, &piece);
    }
    for (const json& piece : file.value(key, json::array())) {
        const auto found = piece.is_string() ? by_text.find(piece.get_ref<const std::string&>()) : by_text.end();
        if (found == by_text.end()) {
            throw Error(fmt::format("{}: \"{}\" holds {}, which is not one of \"pieces\"", name, key, piece.dump()));
        }
        found->second->kind = kind;
    }
}

// vocabulary_json()
ListedPieces from_description(const json& file, const std::string& name) {
    ListedPieces listed{.pieces = numbered_pieces(file.at("pieces"), name), .complete = true};
    for (const auto& [key, value] : file.items()) {
        if (key == "pieces" || key == "added") {
            continue;
        }
        const std::optional<PieceKind> kind = key == "control"  ? std::optional(PieceKind::Control)
                                              : key == "unused" ? std::optional(PieceKind::Unused)
                                              : key == "bytes"  ? std::optional(PieceKind::Byte)
                                                                : std::nullopt;
        if (kind ? !value.is_array() : key != "special" || !value.is_object()) {
            throw Error(fmt::format("{}: \"{}\" is not a list of pieces that a vocabulary has", name, key));
        }
        if (kind) {
            set_kinds(listed, file, key.c_str(), *kind, name);
        }
    }
    if (const auto added = file.find("added"); added != file.end()) {
        listed.added = read_added_tokens(JsonField(*added, "added", name)).tokens;
    }
    const json special = file.value("special", json::object());
    for (const auto& [role, piece] : special.items()) {
        const auto found = std::find_if(listed.pieces.begin(), listed.pieces.end(),
                                        [&, &text = piece](const Piece& one) { return text == one.text; });
        std::int32_t* id = role == "pad"   ? &listed.special.pad
                           : role == "bos" ? &listed.special.bos
                           : role == "eos" ? &listed.special.eos
                           : role == "unk" ? &listed.special.unk
                                           : nullptr;
        if (id == nullptr || found == listed.pieces.end()) {
            throw Error(
                fmt::format("{}: \"special\" holds \"{}\": {}, but must name pad, bos, eos or unk among "
                            "\"pieces\"",
                            name, role, piece.dump()));
        }
        *id = static_cast<std::int32_t>(found - listed.pieces.begin());
        found->kind = id == &listed.special.unk ? PieceKind::Unknown : PieceKind::Control;
    }
    return listed;
}

ListedPieces from_json(std::string_view bytes, const std::string& name) {
    std::istringstream stream{std::string(bytes)};
    const json file = parse_json(stream, name);
    if (file.is_object()) {
        const auto holds = [&](const char* key) {
            const auto found = file.find(key);
            return found != file.end() && found->is_object();
        };
        if (holds("model")) {
            const std::shared_ptr<const Vocabulary> ids = ids_of_tokenizer_json(file, name);
            const auto added = file.find("added_tokens");
            return {.pieces = ids->pieces(),
                    .special = ids->special(),
                    .added = added == file.end() ? std::vector<AddedToken>()
                                                 : read_added_tokens(JsonField(*added, "added_tokens", name)).tokens,
                    .complete = true};
        }
        return holds("pieces") ? from_description(file, name) : ListedPieces{numbered_pieces(file, name)};
    }
    ListedPieces listed;
    for (const json& piece : file) {
        if (!piece.is_string()) {
            throw Error(fmt::format("{}: the piece with the id {} must be a string, but is {}", name,
                                    listed.pieces.size(), piece.dump()));
        }
        listed.pieces.push_back({piece.get<std::string>()});
    }
    return listed;
}

// A YAML document that is one flat map. Reads events, because a tree of nodes is slow and may nest without end.
class YamlMap final : public YAML::EventHandler {
public:
    explicit YamlMap(const std::string& name) : name_(name), numbering_(name) {}

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
        throw Error(fmt::format("{}: line {}: put null and ~ into quotes if they are pieces", name_, mark.line + 1));
    }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { reject(mark); }
    void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t, const std::string& text) override {
        if (!open_) {
            reject(mark);
        }
        if (key_) {
            numbering_.add(*std::exchange(key_, std::nullopt), integer(text), text);
        } else if (key_ = text; !keys_.emplace(text, mark.line).second) {
            throw Error(fmt::format("{}: line {}: the piece '{}' occurs twice, before on line {}", name_, mark.line + 1,
                                    text, keys_.at(text) + 1));
        }
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
        reject(mark);
    }
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {
        if (std::exchange(open_, true)) {
            reject(mark);
        }
    }
    void OnMapEnd() override {}

    std::vector<Piece> pieces() && { return std::move(numbering_).pieces(); }

private:
    [[noreturn]] void reject(const YAML::Mark& mark) const {
        throw Error(fmt::format("{}: line {}: expected `piece: id`", name_, mark.line + 1));
    }

    const std::string& name_;
    Numbering numbering_;
    bool open_ = false;
    std::optional<std::string> key_;
    std::unordered_map<std::string, int> keys_;
};

ListedPieces from_yaml(std::string_view bytes, const std::string& name) {
    std::istringstream stream{std::string(bytes)};
    YamlMap map(name);
    try {
        YAML::Parser parser(stream);
        parser.HandleNextDocument(map);
    } catch (const YAML::Exception& problem) {
        throw Error(fmt::format("{} is not valid YAML: {}", name, problem.what()));
    }
    return {std::move(map).pieces()};
}

// "piece count", which may be followed by kOverwrite.
struct DictionaryLine {
    std::string_view piece;
    bool overwrites = false;
};

std::optional<DictionaryLine> dictionary_line(std::string_view line) {
    DictionaryLine found;
    if (line.ends_with(kOverwrite)) {
        line.remove_suffix(kOverwrite.size());
        found.overwrites = true;
    }
    const std::size_t space = line.rfind(' ');
    if (space == std::string_view::npos || !integer(line.substr(space + 1))) {
        return std::nullopt;
    }
    found.piece = line.substr(0, space);
    return found;
}

// As fairseq's Dictionary.add_from_file(): a piece that overwrites another gets a new id, and the text gives only that.
ListedPieces from_dictionary(std::string_view bytes, const std::string& name) {
    ListedPieces listed{.special = {.pad = 1, .bos = 0, .eos = 2, .unk = 3}};
    std::unordered_map<std::string, std::size_t> ids;
    const auto add = [&](std::string_view piece) {
        ids[std::string(piece)] = listed.pieces.size();
        listed.pieces.push_back({std::string(piece)});
    };
    for (const char* special : {"<s>", "<pad>", "</s>", "<unk>"}) {
        add(special);
    }
    for (int number = 1; !bytes.empty(); ++number) {
        const std::optional<DictionaryLine> line = dictionary_line(next_line(bytes));
        if (!line) {
            throw Error(fmt::format("{}: line {}: expected `piece count`, as in the first line", name, number));
        }
        if (const auto old = ids.find(std::string(line->piece)); old != ids.end()) {
            if (!line->overwrites) {
                throw Error(fmt::format("{}: line {}: the piece '{}' occurs twice; a second one must end with `{}`",
                                        name, number, line->piece, kOverwrite.substr(1)));
            }
            Piece& replaced = listed.pieces[old->second];
            replaced = {fmt::format("{} (overwritten, {})", replaced.text, old->second), PieceKind::Unused};
        }
        add(line->piece);
    }
    return listed;
}

ListedPieces from_lines(std::string_view bytes) {
    ListedPieces listed;
    while (!bytes.empty()) {
        listed.pieces.push_back({std::string(next_line(bytes))});
    }
    return listed;
}

// Whether the first line that is neither blank nor a comment begins a map of ids.
bool begins_yaml_map(std::string_view bytes) {
    while (!bytes.empty()) {
        const std::string_view line = next_line(bytes);
        if (line.empty() || line == "---" || line.starts_with("# ") || line.starts_with("%YAML")) {
            continue;
        }
        const std::size_t colon = line.rfind(": ");
        return line.starts_with("? ") ||
               (colon != std::string_view::npos && colon > 0 && integer(line.substr(colon + 2)));
    }
    return false;
}

}  // namespace

bool is_json(std::string_view bytes) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const std::size_t open = bytes.find_first_not_of(kBlanks);
    if (open == std::string_view::npos || (bytes[open] != '{' && bytes[open] != '[')) {
        return false;
    }
    const std::size_t next = bytes.find_first_not_of(kBlanks, open + 1);
    return next != std::string_view::npos && (bytes[next] == '"' || bytes[next] == (bytes[open] == '{' ? '}' : ']'));
}

std::vector<Piece> numbered_pieces(const json& ids, const std::string& name) {
    Numbering numbering(name);
    for (const auto& [piece, id] : ids.items()) {
        const bool integral = id.is_number_integer() && id <= std::numeric_limits<std::int32_t>::max();
        numbering.add(piece, integral ? std::optional(id.get<std::int64_t>()) : std::nullopt, id.dump());
    }
    return std::move(numbering).pieces();
}

std::string_view next_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line.ends_with('\r') ? line.substr(0, line.size() - 1) : line;
}

ListedPieces parse_listed_pieces(std::string_view bytes, const std::string& name) {
    std::string_view rest = bytes;
    const std::string_view first = next_line(rest);
    return is_json(bytes)           ? from_json(bytes, name)
           : begins_yaml_map(bytes) ? from_yaml(bytes, name)
           : dictionary_line(first) ? from_dictionary(bytes, name)
                                    : from_lines(bytes);
}

}  // namespace headscope
