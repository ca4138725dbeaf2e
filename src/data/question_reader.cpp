#include "data/question_reader.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "data/json_line.h"
#include "support/check.h"

namespace headscope {

std::string QuestionReader::place() const {
    return fmt::format("{} line {}", lines_.name(), lines_.number());
}

bool QuestionReader::next(AskedQuestion& question) {
    if (!lines_.next(line_)) {
        return false;
    }
    const nlohmann::json json = json_of_line(line_, place(), R"({"question": "..", "context": ".."})");
    ConfigReader reader(json, place(), "");
    question = {
        .question = text_of_line(reader, "question"), .context = text_of_line(reader, "context"), .answers = {}};
    if (answered_ || reader.has("answers")) {
        static_cast<void>(reader.child("answers"));
        question.answers = reader.strings("answers");
        if (question.answers.empty()) {
            reader.fail("answers", "is empty: a question without an answer in its context cannot be scored");
        }
    }
    for (const std::string& answer : question.answers) {
        if (question.context.find(answer) == std::string::npos) {
            reader.fail("answers",
                        fmt::format("has {}, which does not stand in the context", nlohmann::json(answer).dump()));
        }
    }
    reader.finish();
    return true;
}

}  // namespace headscope
