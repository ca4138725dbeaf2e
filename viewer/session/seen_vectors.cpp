#include "viewer/session/seen_vectors.h"

#include <fmt/format.h>

namespace headscope::viewer {

SeenVectors seen_vectors(const std::vector<TextVectors>& texts) {
    SeenVectors seen{.of_first = texts.front().labels.size()};
    std::vector<float> values;
    for (const TextVectors& text : texts) {
        if (!text.problem.empty()) {
            seen.problem = text.problem;
            return seen;
        }
        seen.labels.insert(seen.labels.end(), text.labels.begin(), text.labels.end());
        values.insert(values.end(), text.values.begin(), text.values.end());
    }
    const std::size_t count = seen.labels.size();
    if (count > kMostInPlane) {
        seen.problem =
            fmt::format("{} words are more than the {} that fit a picture: give a shorter text", count, kMostInPlane);
        return seen;
    }
    seen.plane = principal_plane(values, count == 0 ? 0 : values.size() / count);
    return seen;
}

}  // namespace headscope::viewer
