// The studies of headscope experiment, each in the file of its name.
#pragma once

#include "experiment/study.h"

namespace headscope {

Study table1();
Study table2();
Study table3();
Study table4();
Study attention_scores();
Study long_range();
Study replaced();
Study residuals();

// Makes a base one of parsers: the symbols of trees are words, in a vocabulary of their own. Error if its development
// data holds no trees. `option` asked for it: "--task parsing".
void prepare_parser(nlohmann::json& base, const char* option);

// Of Table 3, also for Table 2. `change` has the columns of the paper's table that differ from its base model: sizes
// and steps keep their ratio to those of the base, rates are the paper's.
RowConfig table3_config(const StudyRow& row, const nlohmann::json& base, const nlohmann::json& values = {});

}  // namespace headscope
