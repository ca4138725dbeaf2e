#include "capi/records.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "answers/attention_pictures.h"
#include "capi/failures.h"
#include "capi/options.h"
#include "capi/text.h"
#include "figures/heads_page.h"
#include "observe/derived_records.h"
#include "observe/head_statistics.h"
#include "observe/record_json.h"

namespace headscope {

namespace {

using Json = nlohmann::ordered_json;

// The layer of the paper's Figures 3 to 5.
constexpr int kPaperLayer = 5;

const std::vector<RecordedToken>* tokens_of(const hs_record* record, std::int32_t side) {
    if (record == nullptr) {
        return nullptr;
    }
    const AttentionRecord& of = record->record();
    return side == HS_SOURCE       ? &of.source
           : side == HS_TARGET_IN  ? &of.target_in
           : side == HS_TARGET_OUT ? &of.target_out
                                   : nullptr;
}

// `layer` from 1.
void lend_weights(const AttentionRecord& record, std::int32_t kind, std::int32_t layer, hs_array& array) {
    if (kind < HS_ENCODER || kind > HS_CROSS) {
        throw Failure(HS_INVALID,
                      fmt::format("{} is no kind of attention: give HS_ENCODER, HS_DECODER or HS_CROSS", kind));
    }
    const SiteWeights& weights = find_site(record, static_cast<AttentionKind>(kind), layer);
    lend(weights.values.data(), HS_FLOAT32, std::array{weights.heads, weights.queries, weights.keys}, array);
}

AttentionRecord derived_from(const AttentionRecord& record, const std::string& how, const hs_record* other) {
    const bool compares = how == "difference";
    if (compares != (other != nullptr)) {
        throw Failure(HS_INVALID, compares ? "a difference needs the other record"
                                           : fmt::format("\"{}\" is of one record: leave the other one NULL", how));
    }
    if (how == "rollout") {
        return rollout(record);
    }
    if (how == "mean of heads") {
        return mean_of_heads(record);
    }
    if (how == "mean of layers") {
        return mean_of_layers(record);
    }
    if (compares) {
        return difference(record, other->record());
    }
    throw Failure(
        HS_NOT_FOUND,
        fmt::format("a record has no \"{}\", but a rollout, mean of heads, mean of layers or difference", how));
}

Json json_of(const HeadStatistics& one) {
    Json json{{"kind", name_of(one.site.kind)}, {"layer", one.site.layer + 1}, {"head", one.head}};
    if (one.off) {
        json["off"] = true;
        return json;
    }
    json.update({{"entropy", one.entropy},
                 {"distance", one.distance},
                 {"offset", one.offset},
                 {"sharpness", one.sharpness},
                 {"diagonal", one.on_diagonal()},
                 {"on_end", one.on_end},
                 {"strongest", one.strongest},
                 {"strongest_query", one.strongest_query},
                 {"strongest_key", one.strongest_key}});
    const auto put = [&](const char* key, const std::optional<double>& value) {
        json[key] = value ? Json(*value) : Json();
    };
    put("previous", one.previous_if_any());
    put("induction", one.induction_if_any());
    put("duplicate", one.duplicate_if_any());
    return json;
}

Palette palette_of(const ChosenOptions& chosen) {
    return chosen.text("palette") == "okabe-ito" ? Palette::OkabeIto : Palette::Paper;
}

PictureOptions picture_of(const ChosenOptions& chosen, const std::string& format) {
    PictureOptions picture;
    const bool matrix = chosen.on("matrix");
    const bool all = chosen.on("all_heads");
    if (matrix && all) {
        throw Failure(HS_INVALID, "a picture shows a matrix or all heads: choose one");
    }
    picture.picture = matrix ? AttentionPicture::Matrix : all ? AttentionPicture::AllHeads : AttentionPicture::Figure;
    const auto only_for = [&](bool shown, const char* what, std::initializer_list<const char*> keys) {
        for (const char* key : keys) {
            if (chosen.has(key) && !shown) {
                throw Failure(HS_INVALID, fmt::format("the option \"{}\" is for {}", key, what));
            }
        }
    };
    only_for(matrix, "a matrix", {"log"});
    only_for(all, "all heads", {"sort"});
    only_for(!all, "a figure or a matrix", {"layer", "heads", "words", "positions", "looked_at"});
    only_for(!all && !matrix, "the paper's figure", {"overview", "least", "top", "numbers"});
    only_for(chosen.has("words") || chosen.has("positions"), "chosen words or positions", {"looked_at"});
    only_for(format == "png", "png", {"scale"});
    only_for(format != "json", "a picture", {"title", "caption", "theme", "palette", "text_size"});
    picture.logarithmic = chosen.on("log");
    picture.order = parse_head_order(chosen.text("sort"));
    FigureOptions& figure = picture.figure;
    figure.overview = figure.side_by_side = chosen.on("overview");
    figure.least = chosen.number("least");
    figure.top = chosen.has("top") ? static_cast<int>(chosen.integer("top")) : 0;
    figure.numbers = chosen.on("numbers");
    if (figure.numbers && !chosen.has("words") && !chosen.has("positions")) {
        throw Failure(HS_INVALID, "the option \"numbers\" writes those of a chosen word: give words or positions");
    }
    figure.palette = palette_of(chosen);
    figure.look.ink = chosen.text("theme") == "dark" ? kDarkInk : kLightInk;
    figure.look.text_size = chosen.number("text_size");
    picture.scale = chosen.number("scale");
    picture.title = chosen.text("title");
    picture.caption = chosen.text("caption");
    return picture;
}

std::string page_of(const SeenRecord& seen, const ChosenOptions& chosen, const std::string& format) {
    if (format != "html") {
        throw Failure(HS_INVALID, "the option \"page\" needs the format html");
    }
    for (const OptionRow& row : option_rows()) {
        constexpr std::array kObeyed{"page", "title", "caption", "palette", "pieces"};
        if (chosen.has(row.key.c_str()) &&
            std::ranges::none_of(kObeyed, [&](const char* key) { return row.key == key; })) {
            throw Failure(HS_INVALID, fmt::format("the option \"{}\" means nothing to a page of all heads", row.key));
        }
    }
    return heads_page(seen.record, seen.inside.neurons,
                      {.title = chosen.text("title"),
                       .caption = chosen.text("caption"),
                       .notes = seen.inside.notes,
                       .palette = palette_of(chosen),
                       .join_words = !chosen.on("pieces")});
}

AttentionSelection selection_of(const AttentionRecord& record, const ChosenOptions& chosen) {
    if (record.sites.empty()) {
        throw Failure(HS_UNSUPPORTED, "the record has no attention to draw");
    }
    AttentionSelection selection;
    selection.kind = chosen.has("kind") ? parse_attention_kind(chosen.text("kind")) : record.sites.front().site.kind;
    int last = 0;
    bool usual = false;
    for (const SiteWeights& each : record.sites) {
        if (each.site.kind == selection.kind) {
            last = each.site.layer + 1;
            usual = usual || last == kPaperLayer;
        }
    }
    selection.layer = chosen.has("layer") ? static_cast<int>(chosen.integer("layer"))
                      : usual             ? kPaperLayer
                                          : std::max(last, 1);
    selection.heads = chosen.integers("heads");
    selection.words = chosen.texts("words");
    selection.positions = chosen.integers("positions");
    selection.looked_at = chosen.on("looked_at");
    const bool pads =
        std::ranges::any_of(record.source, [](const RecordedToken& each) { return each.kind == TokenKind::Pad; });
    selection.rows = {.join_words = !chosen.on("pieces"), .show_pads = pads, .show_special = chosen.on("special")};
    return selection;
}

}  // namespace

}  // namespace headscope

using namespace headscope;  // NOLINT(google-build-using-namespace): the functions of the header are global

size_t hs_record_tokens(const hs_record* record, int32_t side) {
    const std::vector<RecordedToken>* const tokens = tokens_of(record, side);
    return tokens == nullptr ? 0 : tokens->size();
}

hs_text hs_record_token(const hs_record* record, int32_t side, size_t index) {
    const std::vector<RecordedToken>* const tokens = tokens_of(record, side);
    return tokens == nullptr || index >= tokens->size() ? hs_text{"", 0} : lent((*tokens)[index].text);
}

hs_status hs_record_weights(const hs_record* record, int32_t kind, int32_t layer, hs_array* array, hs_error** error) {
    return guarded_input(error,
                         [&] { lend_weights(given(record, "record").record(), kind, layer, given(array, "array")); });
}

hs_status hs_record_derive(const hs_record* record, const char* how, const hs_record* other, hs_record** derived,
                           hs_error** error) {
    return guarded_input(error, [&] {
        hs_record*& place = given(derived, "the place for the record");
        place = new hs_record(std::make_shared<const SeenRecord>(
            SeenRecord{derived_from(given(record, "record").record(), &given(how, "how"), other)}));
    });
}

hs_status hs_record_statistics(const hs_record* record, hs_buffer** json, hs_error** error) {
    return guarded(error, [&] {
        Json list = Json::array();
        for (const HeadStatistics& one : head_statistics(given(record, "record").record())) {
            list.push_back(json_of(one));
        }
        give(json, list.dump());
    });
}

hs_status hs_record_figure(const hs_record* record, const hs_options* options, const char* format, hs_buffer** bytes,
                           hs_error** error) {
    return guarded_input(error, [&] {
        const SeenRecord& seen = *given(record, "record").seen;
        const AttentionRecord& drawn = seen.record;
        const std::string name = &given(format, "format");
        const ChosenOptions chosen(options, kFigure);
        const ShownFormat shown{.picture = picture_format_of("picture." + name), .json = name == "json"};
        if (shown.picture == nullptr && !shown.json) {
            throw Failure(HS_INVALID,
                          fmt::format("\"{}\" is no format of a picture: use svg, png, pdf, html or json", name));
        }
        if (chosen.on("page")) {
            give(bytes, page_of(seen, chosen, name));
            return;
        }
        const PictureOptions picture = picture_of(chosen, name);
        give(bytes, write_shown(select_shown(drawn, selection_of(drawn, chosen), picture), picture, shown));
    });
}

hs_status hs_record_json(const hs_record* record, hs_buffer** json, hs_error** error) {
    return guarded(error, [&] { give(json, to_json(given(record, "record").record())); });
}

void hs_record_free(hs_record* record) {
    delete record;
}
