// Reports of headscope attention --corpus, as text and JSON.
#pragma once

#include <string>
#include <vector>

#include "explore/corpus_importance.h"
#include "observe/corpus_search.h"

namespace headscope {

std::string text_of(const std::vector<CorpusFinding>& findings, Architecture family);
std::string json_of(const std::vector<CorpusFinding>& findings);
std::string text_of(const CorpusImportance& importance);
std::string json_of(const CorpusImportance& importance);

}  // namespace headscope
