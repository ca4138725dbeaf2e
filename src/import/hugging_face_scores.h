// The heads of Hugging Face's classifiers and of the models that find answers.
#pragma once

#include "import/problems.h"
#include "import/tensor_map.h"
#include "model/config.h"

namespace headscope {

// Where a family keeps the head of a classifier.
struct ScoreTensors {
    const char* layer;  // "bert.pooler.dense"
    ScoreLayer activation;
    const char* output;  // "classifier"
};

// The output for scores of a folder whose class scores texts or pictures, such as BertForSequenceClassification, with
// the names of its classes; nothing for another class. Adds a problem for a head that is not read.
void set_scores(const ForeignConfig& config, const ScoreTensors& tensors, OutputConfig& output);
void add_score_tensors(TensorMap& map, const ScoreTensors& tensors);

}  // namespace headscope
