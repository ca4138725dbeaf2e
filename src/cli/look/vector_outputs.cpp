#include "cli/look/vector_outputs.h"

#include <map>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "answers/json_output.h"
#include "answers/vector_json.h"
#include "figures/vector_map.h"
#include "io/atomic_file.h"
#include "io/npy_writer.h"
#include "observe/principal_axes.h"
#include "observe/vector_distance.h"
#include "options/terminal.h"
#include "paint/picture_file.h"
#include "support/check.h"
#include "support/counted.h"

namespace headscope {
namespace {

using Json = nlohmann::ordered_json;
using Keys = std::function<Json(std::size_t index)>;

void print_json(VectorUnit unit, const EmbeddedLine& line, const Keys& keys) {
    write_output(json_row(vectors_json(unit, line.number, line.text, line.vectors, keys)));
}

// What stands before the numbers of a word or piece.
std::string label_of(VectorUnit unit, const EmbeddedLine& line, std::size_t index) {
    return unit == VectorUnit::Line ? "" : fmt::format("{}\t{}\t", line.number, line.vectors.labels[index]);
}

class PrintedVectors final : public VectorOutput {
public:
    explicit PrintedVectors(const VectorFormat& format) : format_(format) {}
    void add(EmbeddedLine line) override {
        if (format_.json) {
            print_json(format_.unit, line, [&](std::size_t i) { return numbers_json(line.vectors, i); });
            return;
        }
        std::string text;
        for (std::size_t i = 0; i < line.vectors.labels.size(); ++i) {
            text += fmt::format("{}{}\n", label_of(format_.unit, line, i), fmt::join(line.vectors.vector(i), " "));
        }
        write_output(text.empty() && format_.unit == VectorUnit::Line ? "\n" : text);
    }

private:
    const VectorFormat format_;
};

class VectorArray final : public VectorOutput {
public:
    VectorArray(const VectorFormat& format, const std::string& path, std::int64_t columns)
        : format_(format), columns_(columns), rows_(path, columns) {}
    void add(EmbeddedLine line) override {
        const std::int64_t first = rows_.rows();
        if (!line.vectors.problem.empty() && format_.unit == VectorUnit::Line) {
            line.vectors.values.assign(static_cast<std::size_t>(columns_), 0.0F);
        }
        rows_.add(line.vectors.values);
        if (format_.json) {
            print_json(format_.unit, line, [&](std::size_t i) {
                return Json{{"row", first + static_cast<std::int64_t>(i)}};
            });
        }
    }
    void finish() override { rows_.commit(); }

private:
    const VectorFormat format_;
    const std::int64_t columns_;
    NpyRows rows_;
};

// Outputs that need all vectors.
class GatheredVectors : public VectorOutput {
public:
    void add(EmbeddedLine line) override {
        values_.insert(values_.end(), line.vectors.values.begin(), line.vectors.values.end());
        count_ += line.vectors.labels.size();
        if (count_ > most_) {
            throw Error(fmt::format("{} takes at most {} vectors: give fewer lines", doing_, most_));
        }
        lines_.push_back(std::move(line));
    }

protected:
    // `doing`: what takes at most so many.
    GatheredVectors(const VectorFormat& format, std::string doing, std::size_t most)
        : format_(format), doing_(std::move(doing)), most_(most) {}

    std::size_t columns() const { return count_ == 0 ? 0 : values_.size() / count_; }
    std::span<const float> vector(std::size_t i) const { return std::span(values_).subspan(i * columns(), columns()); }
    // Of each line in turn: JSON with the keys of each of its vectors, counted through all lines, or its text.
    void print(
        const Keys& keys,
        const std::function<std::string(const EmbeddedLine&, std::size_t in_line, std::size_t of_all)>& text) const {
        std::size_t first = 0;
        for (const EmbeddedLine& line : lines_) {
            if (format_.json) {
                print_json(format_.unit, line, [&](std::size_t i) { return keys(first + i); });
            } else {
                for (std::size_t i = 0; i < line.vectors.labels.size(); ++i) {
                    write_output(text(line, i, first + i));
                }
            }
            first += line.vectors.labels.size();
        }
    }

    const VectorFormat format_;
    std::vector<EmbeddedLine> lines_;
    std::vector<float> values_;  // [count, columns]
    std::size_t count_ = 0;

private:
    const std::string doing_;
    const std::size_t most_;
};

class CosineTable final : public GatheredVectors {
public:
    explicit CosineTable(const VectorFormat& format) : GatheredVectors(format, "--cosine", kMost) {}
    void finish() override {
        print(
            [&](std::size_t i) {
                return Json{{"cosines", row(i)}};
            },
            [&](const EmbeddedLine& line, std::size_t in_line, std::size_t i) {
                return fmt::format("{}{:.4f}\n", label_of(format_.unit, line, in_line), fmt::join(row(i), "\t"));
            });
    }

private:
    static constexpr std::size_t kMost = 4096;

    std::vector<double> row(std::size_t i) const {
        std::vector<double> cosines;
        for (std::size_t j = 0; j < count_; ++j) {
            cosines.push_back(cosine_of(vector(i), vector(j)));
        }
        return cosines;
    }
};

class NearestOthers final : public GatheredVectors {
public:
    NearestOthers(const VectorFormat& format, int most, std::string name, EachLine others)
        : GatheredVectors(format, "--nearest", kMostQueries),
          most_near_(static_cast<std::size_t>(most)),
          name_(std::move(name)),
          others_(std::move(others)) {}

    void finish() override {
        if (count_ == 0) {
            return print({}, {});
        }
        NearestVectors search(values_, static_cast<std::int64_t>(columns()), most_near_);
        std::size_t added = 0;
        others_([&](const EmbeddedLine& line) {
            for (std::size_t i = 0; i < line.vectors.labels.size(); ++i, ++added) {
                if (search.add(line.vectors.vector(i))) {
                    kept_[added] = {line.number, line.text, line.vectors.labels[i]};
                }
            }
        });
        if (added < most_near_) {
            throw Error(fmt::format("--nearest {}: {} has only {}; give a smaller number", most_near_, name_,
                                    counted(added, "vector")));
        }
        const std::vector<std::vector<NearVector>> nearest = search.take();
        print(
            [&](std::size_t i) {
                return Json{{"nearest", list(nearest[i])}};
            },
            [&](const EmbeddedLine& line, std::size_t in_line, std::size_t i) {
                std::string text = line.vectors.labels[in_line] + "\n";
                for (const NearVector& near : nearest[i]) {
                    const Other& other = kept_.at(near.number);
                    text += fmt::format("  {:7.4f}\t{}\t{}\n", near.cosine, other.line, other.label);
                }
                return text;
            });
    }

private:
    static constexpr std::size_t kMostQueries = 65'536;
    struct Other {
        std::int64_t line = 0;
        std::string text, label;
    };

    Json list(const std::vector<NearVector>& nearest) const {
        Json list = Json::array();
        for (const NearVector& near : nearest) {
            const Other& other = kept_.at(near.number);
            Json& one = list.emplace_back(Json{{"line", other.line}, {"text", other.text}});
            if (format_.unit != VectorUnit::Line) {
                one[format_.unit == VectorUnit::Word ? "word" : "piece"] = other.label;
            }
            one["cosine"] = near.cosine;
        }
        return list;
    }

    const std::size_t most_near_;
    const std::string name_;
    const EachLine others_;
    std::map<std::size_t, Other> kept_;  // by their number, among them all that are near
};

class VectorPicture final : public GatheredVectors {
public:
    VectorPicture(const VectorFormat& format, std::string path, std::string title)
        : GatheredVectors(format, "a picture", kMostInPlane), path_(std::move(path)), title_(std::move(title)) {
        AtomicFile::require_replaceable(path_);
    }
    void finish() override {
        const PrincipalPlane plane = principal_plane(values_, columns());
        std::vector<std::string> labels;
        for (const EmbeddedLine& line : lines_) {
            labels.insert(labels.end(), line.vectors.labels.begin(), line.vectors.labels.end());
        }
        const std::string bytes =
            require_picture_name(path_).written(draw_vector_map(plane, labels, title_), kPictureScale);
        atomic_write_file(path_, bytes);
        if (format_.json) {
            print([&](std::size_t i) { return Json{{"x", plane.places[i][0]}, {"y", plane.places[i][1]}}; }, {});
        }
    }

private:
    const std::string path_, title_;
};

}  // namespace

std::unique_ptr<VectorOutput> printed_vectors(const VectorFormat& format) {
    return std::make_unique<PrintedVectors>(format);
}

std::unique_ptr<VectorOutput> array_of_vectors(const VectorFormat& format, const std::string& path,
                                               std::int64_t columns) {
    return std::make_unique<VectorArray>(format, path, columns);
}

std::unique_ptr<VectorOutput> table_of_cosines(const VectorFormat& format) {
    return std::make_unique<CosineTable>(format);
}

std::unique_ptr<VectorOutput> nearest_of_others(const VectorFormat& format, int most, const std::string& name,
                                                EachLine others) {
    return std::make_unique<NearestOthers>(format, most, name, std::move(others));
}

std::unique_ptr<VectorOutput> picture_of_vectors(const VectorFormat& format, const std::string& path,
                                                 const std::string& title) {
    return std::make_unique<VectorPicture>(format, path, title);
}

}  // namespace headscope
