#include "train/labelled_parts.h"

#include <set>

#include <fmt/format.h>

#include "data/hold_out.h"
#include "data/labelled_reader.h"
#include "support/check.h"
#include "support/counted.h"
#include "train/response_parts.h"
#include "train/variety.h"

namespace headscope {

DocumentParts split_labelled(const std::string& file, const std::string& folder, std::uint64_t seed) {
    constexpr std::size_t kFewestTexts = 20;
    HoldOut held;
    Variety variety;
    std::set<std::string> labels;
    std::set<std::string> some;  // of the texts
    LabelForm form = LabelForm::Class;
    LabelledReader reader(file);
    for (LabelledText text; reader.next(text);) {
        const std::string key = text.pair ? text.text + "\n" + *text.pair : text.text;
        held.add(key, key);
        variety.add(key);
        form = text.form;
        labels.insert(text.labels.begin(), text.labels.end());
        if (some.size() < kFewestTexts) {
            some.insert(key);
        }
    }
    if (some.size() < kFewestTexts) {
        throw Error(fmt::format("'{}' holds {}: a training needs at least {}, some of them for validation", file,
                                counted(some.size(), "different text"), kFewestTexts));
    }
    if (form == LabelForm::Classes && labels.empty()) {
        throw Error(
            fmt::format("'{}' holds only empty lists of classes: a model learns which texts have a class", file));
    }
    if (form == LabelForm::Class && labels.size() < 2) {
        throw Error(
            fmt::format("'{}' holds texts of one class, \"{}\": a model learns to tell two classes at least apart",
                        file, *labels.begin()));
    }
    held.choose({.valid = held_out_of(static_cast<std::int64_t>(reader.lines().number())), .seed = seed});
    DocumentParts parts = write_held_out(file, held, folder);
    parts.characters = variety.characters();
    parts.words = variety.words();
    parts.labels.assign(labels.begin(), labels.end());
    parts.lists = form == LabelForm::Classes;
    return parts;
}

}  // namespace headscope
