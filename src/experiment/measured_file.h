// What was measured of a model on a test text, kept in the experiment's folder.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace headscope {

// Differs for files with other bytes.
std::string name_of_text(const std::string& file);

// What an earlier call measured of this text; null: nothing. Error for a file that lacks one of the numbers.
nlohmann::json known_measures(const std::string& file, const std::string& text,
                              const std::vector<const char*>& numbers);
void keep_measures(const std::string& file, const std::string& text, nlohmann::json measures);

}  // namespace headscope
