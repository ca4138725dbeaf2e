#include "train/document_parts.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <unordered_set>
#include <vector>

#include <fmt/format.h>

#include "data/hold_out.h"
#include "io/atomic_file.h"
#include "io/made_folder.h"
#include "io/written_record.h"
#include "support/check.h"
#include "support/counted.h"
#include "support/random.h"
#include "text/normalised.h"
#include "train/variety.h"

namespace headscope {
namespace {

constexpr std::size_t kFewestDocuments = 20;  // documents

// Documents are compared by the hashes of their parts, since they may be long.
class Documents {
public:
    void add(const std::string& part, bool begins) {
        if (begins) {
            finish();
        }
        key_ = mix_bits(key_ ^ std::hash<std::string>{}(normalised_text(part))) | 1U;
    }
    void finish() {
        if (key_ != 0) {
            different_.insert(key_);
            held_.add(fmt::format("{:x}", key_), fmt::format("{:x}", key_));
        }
        key_ = 0;
    }
    std::size_t different() const { return different_.size(); }
    HoldOut& held() { return held_; }

private:
    HoldOut held_;
    std::unordered_set<std::uint64_t> different_;
    std::uint64_t key_ = 0;  // of the document so far; 0: there is none
};

class DocumentWriter {
public:
    DocumentWriter(const std::string& path, DocumentForm form)
        : file_(path), between_parts_(form == DocumentForm::Line ? "" : "\n") {}
    void add(const std::string& part, bool begins) {
        file_.write((!begins ? between_parts_ : documents_ > 0 ? between_parts_ + "\n" : "") + part);
        documents_ += begins ? 1 : 0;
        bytes_ += std::ssize(part);
    }
    AtomicFile& finished() {
        file_.write("\n");
        return file_;
    }
    std::int64_t documents() const { return documents_; }
    std::int64_t bytes() const { return bytes_; }

private:
    AtomicFile file_;
    std::string between_parts_;
    std::int64_t documents_ = 0, bytes_ = 0;
};

void write_parts(const std::string& file, const HoldOut& held, const WrittenRecord& record, DocumentParts& parts) {
    DocumentWriter train(parts.train_file, parts.form);
    DocumentWriter valid(parts.valid_file, parts.form);
    DocumentReader reader(file, parts.form);
    std::size_t document = 0;
    Part in = Part::Train;
    for (std::string part; reader.next(part);) {
        if (reader.begins()) {
            in = held.part_of(document++);
            parts.shared += in == Part::Shared ? 1 : 0;
        }
        if (in != Part::Shared) {
            (in == Part::Valid ? valid : train).add(part, reader.begins());
        }
    }
    parts.train = train.documents();
    parts.valid = valid.documents();
    parts.train_bytes = train.bytes();
    record.commit({&valid.finished(), &train.finished()});
}

}  // namespace

std::int64_t held_out_of(std::int64_t documents) {
    constexpr std::int64_t kMost = 1000;
    return std::min(std::max(documents / 100, std::min<std::int64_t>(documents / 20, 50)), kMost);
}

DocumentParts split_documents(const std::string& file, DocumentForm form, const std::string& folder,
                              std::uint64_t seed) {
    DocumentParts parts{.form = form};
    Documents documents;
    Variety variety;
    DocumentReader first(file, form);
    for (std::string part; first.next(part);) {
        documents.add(part, first.begins());
        if (parts.unlearnable.learnable(part, first.lines().name(), first.lines().number())) {
            variety.add(part);
        }
    }
    documents.finish();
    if (documents.different() < kFewestDocuments) {
        throw Error(fmt::format("'{}' holds {} ({}): a training needs at least {}, some of them for validation{}", file,
                                counted(documents.different(), "different document"),
                                form == DocumentForm::Line ? "one per line" : "separated by empty lines",
                                kFewestDocuments,
                                form == DocumentForm::Line ? "" : "; --documents line makes each line a document"));
    }
    if (variety.words() == 0) {
        throw Error(fmt::format("'{}' holds no line that a vocabulary can be learned from: {}", file,
                                parts.unlearnable.first()));
    }
    documents.held().choose({.valid = held_out_of(static_cast<std::int64_t>(documents.different())), .seed = seed});
    const std::vector<std::string> names{"train.text", "valid.text"};
    const WrittenRecord record(folder);
    record.require_own(names);
    MadeFolder(folder).keep();
    parts.train_file = (std::filesystem::absolute(folder) / names[0]).string();
    parts.valid_file = (std::filesystem::absolute(folder) / names[1]).string();
    parts.characters = variety.characters();
    parts.words = variety.words();
    write_parts(file, documents.held(), record, parts);
    return parts;
}

}  // namespace headscope
