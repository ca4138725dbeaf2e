#include "train/response_parts.h"

#include <algorithm>
#include <filesystem>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "data/response_reader.h"
#include "io/atomic_file.h"
#include "io/made_folder.h"
#include "io/written_record.h"
#include "support/check.h"
#include "support/counted.h"
#include "text/lines.h"

namespace headscope {
namespace {

constexpr std::size_t kFewestPrompts = 20;

std::string key_of(const Responses& responses) {
    std::string key;
    for (const ChatMessage& message : responses.prompt) {
        key += message.content + "\n";
        if (responses.whole && message.role == ChatRole::User) {  // a conversation is known by how it begins
            break;
        }
    }
    return key;
}

void write_lines(const std::string& file, const HoldOut& held, const WrittenRecord& record, DocumentParts& parts) {
    AtomicFile train(parts.train_file);
    AtomicFile valid(parts.valid_file);
    LineReader lines(file);
    std::size_t number = 0;
    for (std::string line; lines.next(line); ++number) {
        line += "\n";
        switch (held.part_of(number)) {
            case Part::Valid:
                valid.write(line);
                ++parts.valid;
                break;
            case Part::Shared: ++parts.shared; break;
            default:
                train.write(line);
                ++parts.train;
                parts.train_bytes += std::ssize(line);
        }
    }
    record.commit({&valid, &train});
}

}  // namespace

DocumentParts write_held_out(const std::string& file, const HoldOut& held, const std::string& folder) {
    const std::vector<std::string> names{"train.jsonl", "valid.jsonl"};
    const WrittenRecord record(folder);
    record.require_own(names);
    MadeFolder(folder).keep();
    DocumentParts parts;
    parts.train_file = (std::filesystem::absolute(folder) / names[0]).string();
    parts.valid_file = (std::filesystem::absolute(folder) / names[1]).string();
    write_lines(file, held, record, parts);
    return parts;
}

DocumentParts split_responses(const std::string& file, Task task, const std::string& folder, std::uint64_t seed) {
    HoldOut held;
    std::unordered_set<std::string> prompts;
    ResponseReader reader(file, form_of(task));
    for (Responses responses; reader.next(responses);) {
        const std::string key = key_of(responses);
        held.add(key, key);
        if (prompts.size() < kFewestPrompts) {
            prompts.insert(key);
        }
    }
    if (prompts.size() < kFewestPrompts) {
        throw Error(fmt::format("'{}' holds {}: a training needs at least {}{}", file,
                                counted(prompts.size(), "different prompt"), kFewestPrompts,
                                traits(task).rolls_out ? "" : ", some of them for validation"));
    }
    const auto lines = static_cast<std::int64_t>(reader.lines().number());
    held.choose({.valid = traits(task).rolls_out ? 0 : held_out_of(lines), .seed = seed});
    return write_held_out(file, held, folder);
}

}  // namespace headscope
